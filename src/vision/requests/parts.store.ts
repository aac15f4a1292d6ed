import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { instantSql } from '../../database/instant-sql.js';
import type { Instant } from '../../contracts/common/instant.js';
import {
  type ClipState,
  type PartState,
  partStateOf,
  REQUEST_STATES,
  requestStateOf,
  type RequestState,
} from './request-states.js';

/** One piece of a request, as its work needs it. */
export interface Part {
  readonly haulerId: string;
  readonly id: string;
  readonly requestId: string;
  readonly connectionId: string;
  readonly customerId: string;
  readonly truckId: string;
  readonly cameraId: string;
  readonly startTime: Instant;
  readonly endTime: Instant;
  readonly status: RequestState;
  readonly reason: string | null;
  readonly partnerRequestId: string | null;
  readonly submitTries: number;
  readonly submittedAt: Date | null;
  readonly deadlineAt: Date;
  /** Its deadline had come when it was read, by the database's clock. */
  readonly overdue: boolean;
  readonly polls: number;
  readonly nextPollAt: Date | null;
  readonly askedAloneAt: Date | null;
  readonly notFound: number;
  /** Of one that is open: the partner has listed some of its clips, and prepares others. */
  readonly hasClips: boolean;
}

export interface Customer {
  readonly hauler_id: string;
  readonly connection_id: string;
  readonly customer_id: string;
}

/** Instants keep their microseconds; a JavaScript date would lose them. */
const COLUMNS = `hauler_id AS "haulerId", id, request_id AS "requestId", connection_id AS "connectionId",
  customer_id AS "customerId", truck_id AS "truckId", camera_id AS "cameraId",
  ${instantSql('start_time')} AS "startTime", ${instantSql('end_time')} AS "endTime", status, reason,
  partner_request_id AS "partnerRequestId", submit_tries AS "submitTries", submitted_at AS "submittedAt",
  deadline_at AS "deadlineAt", deadline_at <= now() AS overdue, polls, next_poll_at AS "nextPollAt",
  asked_alone_at AS "askedAloneAt", not_found AS "notFound",
  EXISTS (SELECT 1 FROM recordings AS clip WHERE clip.hauler_id = video_request_parts.hauler_id
          AND clip.part_id = video_request_parts.id) AS "hasClips"`;

/** The rows of parts, and the requests that follow from them. */
@Injectable()
export class PartsStore {
  constructor(private readonly dataSource: DataSource) {}

  async find(haulerId: string, id: string, manager?: EntityManager): Promise<Part> {
    const [row] = await (manager ?? this.dataSource).query<Part[]>(
      `SELECT ${COLUMNS} FROM video_request_parts WHERE hauler_id = $1 AND id = $2`,
      [haulerId, id],
    );
    if (row === undefined) throw new Error(`there is no part ${id}`);
    return row;
  }

  /**
   * The parts of a customer that wait for the partner, the next one first; and what time it is for the database, whose
   * clock set when they are due.
   */
  async open({ hauler_id, connection_id, customer_id }: Customer): Promise<{ open: Part[]; now: Date }> {
    const rows = await this.dataSource.query<(Part & { readonly now: Date })[]>(
      `SELECT ${COLUMNS}, now() AS now FROM video_request_parts
       WHERE connection_id = $1 AND customer_id = $2 AND hauler_id = $3 AND next_poll_at IS NOT NULL
       ORDER BY video_request_parts.next_poll_at`,
      [connection_id, customer_id, hauler_id],
    );
    return { open: rows, now: rows[0]?.now ?? new Date() };
  }

  /** Those of `ids` that the partner has given to parts of this connection, ended ones too. */
  async knownRequests(
    { haulerId, connectionId }: Pick<Part, 'haulerId' | 'connectionId'>,
    ids: readonly (string | undefined)[],
  ): Promise<string[]> {
    const rows = await this.dataSource.query<{ id: string }[]>(
      `SELECT DISTINCT partner_request_id AS id FROM video_request_parts
       WHERE hauler_id = $1 AND connection_id = $2 AND partner_request_id = ANY ($3::text[])`,
      [haulerId, connectionId, ids],
    );
    return rows.map(({ id }) => id);
  }

  /** The database's time: parts are judged by its clock, so what they are judged by has to be written by it too. */
  async now(manager: EntityManager): Promise<Date> {
    const [{ now }] = await manager.query<[{ now: Date }]>('SELECT now()');
    return now;
  }

  /** Moves a part whose row nobody else has, and its request with it. Throws `ForbiddenMove`. */
  async move(manager: EntityManager, part: Part, status: RequestState, reason: string | null): Promise<void> {
    if (part.status !== status) REQUEST_STATES.assertMove(part.status, status);
    const waits = status === 'processing' || status === 'submitting';
    await manager.query(
      `UPDATE video_request_parts SET status = $3, reason = $4${waits ? '' : ', next_poll_at = NULL'}
       WHERE hauler_id = $1 AND id = $2`,
      [part.haulerId, part.id, status, reason],
    );
    await this.refresh(manager, part.haulerId, part.requestId);
  }

  /**
   * Brings a part to where its clips are, once the partner prepares no more of them. Its row is locked first: two of its
   * clips may end at the same time.
   */
  async settle(manager: EntityManager, haulerId: string, id: string): Promise<void> {
    const key = [haulerId, id];
    await manager.query('SELECT 1 FROM video_request_parts WHERE hauler_id = $1 AND id = $2 FOR UPDATE', key);
    const part = await this.find(haulerId, id, manager);
    if (part.status !== 'ready' && part.status !== 'downloading') return;
    const clips = await manager.query<ClipState[]>(
      'SELECT status, reason FROM recordings WHERE hauler_id = $1 AND part_id = $2 ORDER BY start_time, id',
      key,
    );
    const { status, reason } = partStateOf(clips, part.reason);
    if (status !== part.status) await this.move(manager, part, status, reason);
  }

  /** Brings a request to where its parts are. Its row is locked first: two parts may end at the same time. */
  async refresh(manager: EntityManager, haulerId: string, requestId: string): Promise<void> {
    const key = [haulerId, requestId];
    await manager.query('SELECT 1 FROM video_requests WHERE hauler_id = $1 AND id = $2 FOR UPDATE', key);
    const parts = await manager.query<PartState[]>(
      'SELECT number, status, reason FROM video_request_parts WHERE hauler_id = $1 AND request_id = $2 ORDER BY number',
      key,
    );
    const { status, reason } = requestStateOf(parts);
    await manager.query(
      `UPDATE video_requests SET status = $3, reason = $4, updated_at = now()
       WHERE hauler_id = $1 AND id = $2 AND (status, reason) IS DISTINCT FROM ($3, $4)`,
      [...key, status, reason],
    );
  }
}
