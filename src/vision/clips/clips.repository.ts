import { Injectable } from '@nestjs/common';
import { Database } from '../../core/database/database.js';
import { instantSql, type Sql } from '../../core/database/sql.js';
import { uuidv7 } from '../../core/database/uuid.js';
import { Outbox } from '../../webhooks/events/outbox.js';
import { namePairsOf } from '../recordings/camera-names.repository.js';
import { SHOWN_STATUS } from '../recordings/recording-list.repository.js';
import type { CameraKey, ConnectionKey } from '../truck.js';
import type { Range } from '../range.js';
import type { CameraNames } from './clip-matching.rules.js';
import {
  type ClipState,
  type PartState,
  partStateOf,
  REQUEST_STATES,
  requestStateOf,
  type RequestState,
} from './clip-requests.rules.js';
import type { ClipEvent } from './video-requests.repository.js';

/** One part of a request, with the columns that its jobs need. */
export interface Part extends CameraKey, Range {
  readonly id: string;
  readonly requestId: string;
  readonly customerId: string;
  readonly status: RequestState;
  readonly reason: string | null;
  readonly partnerRequestId: string | null;
  readonly submitAttempts: number;
  /** A POST before the last retry by an admin got no answer. */
  readonly mayBeTaken: boolean;
  readonly submittedAt: Date | null;
  readonly deadlineAt: Date;
  /** By the database's clock. */
  readonly isOverdue: boolean;
  readonly polls: number;
  readonly nextPollAt: Date | null;
  readonly polledIndividuallyAt: Date | null;
  readonly notFound: number;
  /** The partner has listed clips of it. An open part may get more. */
  readonly hasClips: boolean;
}

export interface Customer {
  readonly hauler_id: string;
  readonly connection_id: string;
  readonly customer_id: string;
}

export interface NextPoll {
  readonly part: Part;
  readonly delayMs: number;
  readonly isUnknown: boolean;
  readonly isIndividual: boolean;
  readonly reason: string | null;
}

interface Reopened extends Pick<Part, 'haulerId' | 'requestId'> {
  /** The ids of the parts whose clips are fetched again. */
  readonly revived: ReadonlySet<string>;
  readonly deadlineMs: number;
}

type NewClipEvent = Pick<ClipEvent, 'kind' | 'text'> & { readonly recordingId?: string };

/** The states of a part that follow from its clips. */
const FOLLOWS_CLIPS: ReadonlySet<RequestState> = new Set(['ready', 'downloading', 'stored']);

/** Longer reasons of partners are cut. */
const MAX_TEXT = 4_000;

/** `instantSql` keeps the microseconds, which a JavaScript date cannot hold. */
export const PART = `hauler_id AS "haulerId", id, request_id AS "requestId", connection_id AS "connectionId",
  customer_id AS "customerId", truck_id AS "truckId", camera_id AS "cameraId",
  ${instantSql('start_time')} AS "startTime", ${instantSql('end_time')} AS "endTime", status, reason,
  partner_request_id AS "partnerRequestId", submit_attempts AS "submitAttempts", may_be_taken AS "mayBeTaken", submitted_at AS "submittedAt",
  deadline_at AS "deadlineAt", deadline_at <= now() AS "isOverdue", polls, next_poll_at AS "nextPollAt",
  polled_individually_at AS "polledIndividuallyAt", not_found AS "notFound",
  EXISTS (SELECT 1 FROM recordings AS clip WHERE clip.hauler_id = video_request_parts.hauler_id
          AND clip.part_id = video_request_parts.id) AS "hasClips"`;

const PART_BY_KEY = `SELECT ${PART} FROM video_request_parts WHERE hauler_id = $1 AND id = $2`;

/** Parts without a file, unless retention has deleted it. */
const OPENABLE = `SELECT ${PART} FROM video_request_parts
  WHERE hauler_id = $1 AND request_id = $2 AND status <> 'stored' AND file_removed_at IS NULL ORDER BY number`;

/** The parts of video requests as their jobs change them, with the requests, the steps and the polls that follow from them. */
@Injectable()
export class ClipsRepository {
  constructor(
    private readonly database: Database,
    private readonly outbox: Outbox,
  ) {}

  inTransaction<T>(work: (transaction: Sql) => Promise<T>): Promise<T> {
    return this.database.transaction(work);
  }

  async findPart(haulerId: string, id: string): Promise<Part> {
    const row = await this.database.first<Part>(PART_BY_KEY, [haulerId, id]);
    if (row === undefined) throw new Error(`no part ${id} of a video request`);
    return row;
  }

  /** The parts of a customer that wait for the partner, the next due one first, and the database's time. */
  async openParts({ hauler_id, connection_id, customer_id }: Customer): Promise<{ parts: Part[]; now: Date }> {
    const parts = await this.database.query<Part & { readonly now: Date }>(
      `SELECT ${PART}, now() AS now FROM video_request_parts
       WHERE connection_id = $1 AND customer_id = $2 AND hauler_id = $3 AND next_poll_at IS NOT NULL
       ORDER BY video_request_parts.next_poll_at`,
      [connection_id, customer_id, hauler_id],
    );
    return { parts, now: parts[0]?.now ?? new Date() };
  }

  /** The ids in `ids` that the partner gave to parts of this connection, including ended ones. */
  async knownRequests(
    { haulerId, connectionId }: ConnectionKey,
    ids: readonly (string | undefined)[],
  ): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      `SELECT DISTINCT partner_request_id AS id FROM video_request_parts
       WHERE hauler_id = $1 AND connection_id = $2 AND partner_request_id = ANY ($3::text[])`,
      [haulerId, connectionId, ids],
    );
    return rows.map(({ id }) => id);
  }

  /** The names that the partner returned for the cameras of these parts' trucks. */
  async cameraNames(parts: readonly Part[]): Promise<CameraNames> {
    const trucks = [...new Map(parts.map((part) => [part.truckId, part])).entries()];
    const pairs = await namePairsOf(
      this.database,
      trucks.map(([, part]) => part),
    );
    return new Map(trucks.map(([truck], i) => [truck, pairs[i] ?? []]));
  }

  /**
   * Schedules the customer's poll after `delayMs` or earlier. After a failure the poll keeps its time, which is the backoff
   * or the partner's `Retry-After`. Locks the poll's row, so that a round that ends now includes the part. Returns the
   * database's time, for the columns that SQL compares with `now()`.
   */
  async schedulePoll(transaction: Sql, part: Part, delayMs: number): Promise<Date> {
    const { now } = await transaction.only<{ now: Date }>(
      `INSERT INTO video_polls AS poll (hauler_id, connection_id, customer_id, due_at)
       VALUES ($1, $2, $3, now() + $4::float8 * interval '1 ms')
       ON CONFLICT (hauler_id, connection_id, customer_id) DO UPDATE SET due_at =
         CASE WHEN poll.last_error IS NULL OR poll.due_at IS NULL THEN least(poll.due_at, excluded.due_at) ELSE poll.due_at END
       RETURNING now() AS now`,
      [part.haulerId, part.connectionId, part.customerId, delayMs],
    );
    return now;
  }

  /** Null where the customer has no open part. */
  async nextPollAt(transaction: Sql, { hauler_id, connection_id, customer_id }: Customer): Promise<Date | null> {
    const { at } = await transaction.only<{ at: Date | null }>(
      `SELECT least(min(next_poll_at), min(deadline_at)) AS at FROM video_request_parts
       WHERE connection_id = $1 AND customer_id = $2 AND hauler_id = $3 AND next_poll_at IS NOT NULL`,
      [connection_id, customer_id, hauler_id],
    );
    return at;
  }

  /**
   * Records a poll of each part and schedules the next one. A part whose poll was scheduled meanwhile, by a poke, keeps that: the
   * time that was read has milliseconds.
   */
  async scheduleParts(transaction: Sql, haulerId: string, polls: readonly NextPoll[]): Promise<void> {
    await transaction.query(
      `UPDATE video_request_parts AS part SET polls = part.polls + 1,
         next_poll_at = CASE WHEN part.next_poll_at BETWEEN poll.due AND poll.due + interval '2 ms'
           THEN now() + poll.delay * interval '1 ms' ELSE part.next_poll_at END,
         not_found = CASE WHEN poll.unknown THEN part.not_found + 1 ELSE 0 END,
         polled_individually_at = CASE WHEN poll.individual THEN now() ELSE part.polled_individually_at END,
         reason = poll.reason
       FROM unnest($2::uuid[], $3::float8[], $4::boolean[], $5::boolean[], $6::text[], $7::timestamptz[])
         AS poll (id, delay, unknown, individual, reason, due)
       WHERE part.hauler_id = $1 AND part.id = poll.id`,
      [
        haulerId,
        polls.map(({ part }) => part.id),
        polls.map(({ delayMs }) => delayMs),
        polls.map(({ isUnknown }) => isUnknown),
        polls.map(({ isIndividual }) => isIndividual),
        polls.map(({ reason }) => reason),
        polls.map(({ part }) => part.nextPollAt),
      ],
    );
    const changed = polls.filter(({ part, reason }) => part.reason !== reason);
    for (const { part, reason } of changed) {
      const text = reason === null ? 'The partner gives no reason any more.' : `Still processing: ${reason}`;
      await recordClipEvent(transaction, part, { kind: 'poll', text });
    }
    for (const id of new Set(changed.map(({ part }) => part.requestId))) {
      await this.refreshRequest(transaction, haulerId, id);
    }
  }

  /** Moves a part whose row the caller holds, and its request with it. Throws `InvalidTransitionError`. */
  async transition(
    transaction: Sql,
    part: Part,
    status: RequestState,
    reason: string | null,
    kind: ClipEvent['kind'] = 'state',
  ): Promise<void> {
    if (part.status !== status) REQUEST_STATES.assertTransition(part.status, status);
    const isOpen = status === 'processing' || status === 'submitting';
    await transaction.query(
      `UPDATE video_request_parts SET status = $3, reason = $4${isOpen ? '' : ', next_poll_at = NULL'}
       WHERE hauler_id = $1 AND id = $2`,
      [part.haulerId, part.id, status, reason],
    );
    const text = `The state is ${status}.${reason === null ? '' : ` ${reason}`}`;
    await recordClipEvent(transaction, part, { kind, text });
    await this.refreshRequest(transaction, part.haulerId, part.requestId);
  }

  /** Retention has deleted the file of a clip of the part. */
  async clipExpired(
    transaction: Sql,
    haulerId: string,
    id: string,
    clip: { readonly recordingId: string; readonly reason: string },
  ): Promise<void> {
    const sql = 'UPDATE video_request_parts SET file_removed_at = now() WHERE hauler_id = $1 AND id = $2';
    await transaction.query(sql, [haulerId, id]);
    const event = { kind: 'state', text: clip.reason, recordingId: clip.recordingId } as const;
    await recordClipEvent(transaction, { haulerId, id }, event);
    await this.updatePartFromClips(transaction, haulerId, id);
  }

  /** An erasure has deleted a clip of the part, which ends when none is left. */
  async clipErased(transaction: Sql, haulerId: string, id: string, erasureId: string): Promise<void> {
    const part = await this.lockPart(transaction, haulerId, id);
    if (part === undefined) return;
    if (part.hasClips) return this.updatePartFromClips(transaction, haulerId, id);
    if (part.status === 'expired' || part.status === 'failed') return;
    await this.transition(transaction, part, 'expired', `The footage was erased (erasure ${erasureId}).`);
  }

  /** The part waits again for its clips, which are fetched again. */
  async reopenPart(transaction: Sql, haulerId: string, id: string): Promise<void> {
    const part = await this.lockPart(transaction, haulerId, id);
    const hasEnded = part?.status === 'failed' || part?.status === 'expired';
    if (hasEnded) await this.transition(transaction, part, 'ready', null);
  }

  /**
   * Opens the parts of a request that ended without a file, for another `deadlineMs`: `revived` ones wait for their clips, those
   * that the partner has accepted are polled again, and the others are sent again. Open parts are tried at once. Returns how
   * many parts are open now.
   */
  async reopenRequest(transaction: Sql, { haulerId, requestId, revived, deadlineMs }: Reopened): Promise<number> {
    const key = [haulerId, requestId];
    const first = await transaction.first<Part>(`${OPENABLE} LIMIT 1`, key);
    if (first === undefined) return 0;
    // Locks are taken in the order of a poll round: the poll, then parts, then requests.
    await this.schedulePoll(transaction, first, 0);
    // Locked, so that of two admins only one sends a part again.
    const parts = await transaction.query<Part>(`${OPENABLE} FOR UPDATE`, key);
    await transaction.query(
      `UPDATE video_request_parts SET next_poll_at = CASE WHEN status = 'processing' THEN now() END,
           due_at = CASE WHEN status = 'submitting' AND started_at IS NULL THEN now() ELSE due_at END
         WHERE hauler_id = $1 AND request_id = $2 AND status IN ('submitting', 'processing')`,
      key,
    );
    const ended = parts.filter(({ status }) => status === 'failed' || status === 'expired');
    for (const part of ended) {
      const isAccepted = part.status === 'expired' && part.submittedAt !== null;
      const status = revived.has(part.id) ? 'ready' : isAccepted ? 'processing' : 'submitting';
      await this.transition(transaction, part, status, null);
      await transaction.query(
        `UPDATE video_request_parts SET deadline_at = now() + $3::float8 * interval '1 ms', attempts = 0, last_error = NULL,
             polls = 0, not_found = 0, next_poll_at = CASE WHEN status = 'processing' THEN now() END,
             due_at = CASE WHEN status = 'submitting' THEN now() END,
             may_be_taken = may_be_taken OR (submit_attempts > 0 AND submitted_at IS NULL),
             submitted_at = CASE WHEN status = 'submitting' THEN NULL ELSE submitted_at END,
             submit_attempts = CASE WHEN status = 'submitting' THEN 0 ELSE submit_attempts END,
             partner_request_id = CASE WHEN status = 'submitting' THEN NULL ELSE partner_request_id END
           WHERE hauler_id = $1 AND id = $2`,
        [haulerId, part.id, deadlineMs],
      );
    }
    await transaction.query(
      `UPDATE video_requests SET deadline_at = (SELECT max(deadline_at) FROM video_request_parts
           WHERE hauler_id = $1 AND request_id = $2) WHERE hauler_id = $1 AND id = $2`,
      key,
    );
    return parts.length;
  }

  /**
   * Derives the state of a part from its clips, once the partner has listed all of them; a stored one may lose a clip to
   * retention. Locks its row first, because two of its clips may end at the same time. `ended` is the clip whose download
   * ends in this transaction or after it.
   */
  async updatePartFromClips(transaction: Sql, haulerId: string, id: string, ended?: string): Promise<void> {
    const key = [haulerId, id];
    const part = await this.lockPart(transaction, haulerId, id);
    if (part === undefined || !FOLLOWS_CLIPS.has(part.status)) return;
    const clips = await transaction.query<ClipState>(
      `SELECT CASE WHEN id = $3 THEN status ELSE ${SHOWN_STATUS} END AS status, reason FROM recordings
       WHERE hauler_id = $1 AND part_id = $2 ORDER BY start_time, id`,
      [...key, ended ?? null],
    );
    const { status, reason } = partStateOf(clips, part.reason);
    if (status !== part.status) await this.transition(transaction, part, status, reason);
  }

  /** Derives the state of a request from its parts. Locks its row first, because two parts may end at the same time. */
  async refreshRequest(transaction: Sql, haulerId: string, requestId: string): Promise<void> {
    const key = [haulerId, requestId];
    const request = await transaction.first<Omit<CameraKey, 'haulerId'> & Pick<Part, 'status'>>(
      `SELECT status, connection_id AS "connectionId", truck_id AS "truckId", camera_id AS "cameraId"
       FROM video_requests WHERE hauler_id = $1 AND id = $2 FOR UPDATE`,
      key,
    );
    const parts = await transaction.query<PartState>(
      'SELECT number, status, reason FROM video_request_parts WHERE hauler_id = $1 AND request_id = $2 ORDER BY number',
      key,
    );
    const { status, reason } = requestStateOf(parts);
    await transaction.query(
      `UPDATE video_requests SET status = $3, reason = $4, updated_at = now()
       WHERE hauler_id = $1 AND id = $2 AND (status, reason) IS DISTINCT FROM ($3, $4)`,
      [...key, status, reason],
    );
    if (request !== undefined && request.status !== status && isAnnounced(status)) {
      const { connectionId, truckId, cameraId } = request;
      const data = { connectionId, videoRequestId: requestId, truckId, cameraId };
      await this.outbox.record(transaction, { topic: `clip.${status}`, haulerId, connectionId, data });
    }
  }

  private async lockPart(transaction: Sql, haulerId: string, id: string): Promise<Part | undefined> {
    return transaction.first<Part>(`${PART_BY_KEY} FOR UPDATE`, [haulerId, id]);
  }
}

const isAnnounced = (status: RequestState) => status === 'stored' || status === 'failed' || status === 'expired';

/** Records a step of a part, in the transaction of the step. */
export async function recordClipEvent(
  transaction: Sql,
  { haulerId, id }: Pick<Part, 'haulerId' | 'id'>,
  { kind, text, recordingId }: NewClipEvent,
): Promise<void> {
  await transaction.query(
    `INSERT INTO clip_events (hauler_id, request_id, id, part_id, recording_id, kind, text)
     SELECT hauler_id, request_id, $3, id, $4, $5, $6 FROM video_request_parts WHERE hauler_id = $1 AND id = $2`,
    [haulerId, id, uuidv7(), recordingId ?? null, kind, text.slice(0, MAX_TEXT)],
  );
}
