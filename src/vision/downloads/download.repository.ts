import { Injectable } from '@nestjs/common';
import { Database } from '../../core/database/database.js';
import type { Sql } from '../../core/database/sql.js';
import { Outbox } from '../../webhooks/events/outbox.js';
import type { HappenedEvent } from '../../webhooks/events/outbox.repository.js';
import type { Changes, Next, Run } from '../../core/work/run.js';
import { ClipsRepository, recordClipEvent } from '../clips/clips.repository.js';
import type { ClipEvent } from '../clips/video-requests.repository.js';
import { namePairsOf } from '../recordings/camera-names.repository.js';
import type { NamePair } from '../recordings/camera-names.rules.js';
import { IS_AT_RISK, OF_CONNECTION } from '../recordings/footage-attention.repository.js';
import { RECORDING_STATES, type RecordingState } from '../recordings/recording.rules.js';
import type { TruckRow } from '../truck.js';
import type { ResumePoint } from './downloader.js';

/** The columns of a recording that its download needs. A `bigint` is text. */
export interface RecordingRow {
  readonly hauler_id: string;
  readonly id: string;
  readonly connection_id: string;
  readonly part_id: string | null;
  readonly partner_recording_id: string;
  readonly truck_id: string;
  readonly camera_id: string;
  readonly start_time: Date;
  readonly end_time: Date;
  readonly status: RecordingState;
  /** Before the start of this run: not null after an interrupted one. */
  readonly started_at: Date | null;
  readonly last_error: string | null;
  /** A secret: links are signed. */
  readonly link: string | null;
  readonly expires_at: Date | null;
  readonly relinks: number;
  /** The maximum number of bytes that an attempt has received. */
  readonly received_bytes: string;
  /** Where the next attempt resumes. Either all four columns have a value, or none. */
  readonly draft_id: string | null;
  readonly draft_bytes: string | null;
  readonly draft_total: string | null;
  readonly draft_validator: string | null;
  readonly created_at: Date;
  /** When it was listed, or revived by a new listing or by an admin. */
  readonly tried_since: Date;
}

export function resumePointOf(row: RecordingRow): ResumePoint | undefined {
  const { draft_id: id, draft_bytes: bytes, draft_total: total, draft_validator: validator } = row;
  if (id === null || bytes === null || total === null || validator === null) return undefined;
  return { id, bytes: Number(bytes), total: Number(total), validator };
}

export const resumeColumns = (point: ResumePoint | undefined): Changes => ({
  draft_id: point?.id ?? null,
  draft_bytes: point?.bytes ?? null,
  draft_total: point?.total ?? null,
  draft_validator: point?.validator ?? null,
});

/** Rows of a connection that the age of the oldest due one is taken from. */
const AGED_ROWS = 1_000;

/** The connections with waiting recordings, one step of their index for each. Idle connections cost nothing. */
const WAITING = `waiting (id) AS (
         (SELECT connection_id FROM recordings WHERE due_at IS NOT NULL ORDER BY connection_id LIMIT 1)
         UNION ALL
         SELECT (SELECT r.connection_id FROM recordings AS r WHERE r.due_at IS NOT NULL AND r.connection_id > waiting.id
           ORDER BY r.connection_id LIMIT 1) FROM waiting WHERE id IS NOT NULL)`;

/**
 * Connections with due recordings, in the order in which the links of their most urgent ones expire. The column `waiting_since`
 * takes longest: PostgreSQL evaluates it only for a statement that reads it.
 */
export const DOWNLOAD_LANES = `
  WITH RECURSIVE ${WAITING}
  SELECT waiting.id::text AS lane, first.fetch_by AS urgency,
    (SELECT min(r.due_at) FROM (
      SELECT r.due_at, r.started_at FROM recordings AS r WHERE r.connection_id = waiting.id AND r.due_at <= now()
      ORDER BY r.fetch_by LIMIT ${AGED_ROWS}) AS r WHERE r.started_at IS NULL) AS waiting_since
  FROM waiting CROSS JOIN LATERAL (
    SELECT t.fetch_by FROM recordings AS t WHERE t.connection_id = waiting.id AND t.due_at <= now()
    ORDER BY t.fetch_by LIMIT 1) AS first`;

/** A clip that is ready just before its deadline, or was revived after it, is tried for this time. */
const MIN_CLIP_MS = 3_600_000;

/** Changes the state of recordings by the table of transitions, and updates the states of their parts and requests. */
@Injectable()
export class DownloadRepository {
  constructor(
    private readonly database: Database,
    private readonly parts: ClipsRepository,
    private readonly outbox: Outbox,
  ) {}

  /** Updates the part of a clip whose download begins. Throws `RowLostError`. */
  async begin(run: Run<RecordingRow>): Promise<void> {
    const { hauler_id: haulerId, part_id: partId } = run.row;
    if (partId === null) return;
    await this.database.transaction(async (transaction) => {
      await run.hold(transaction);
      await this.parts.updatePartFromClips(transaction, haulerId, partId);
    });
  }

  /** The download stops and is tried again. The run then fails. Throws `RowLostError`. */
  async defer(run: Run<RecordingRow>, set: Changes = {}): Promise<void> {
    if (run.row.part_id === null && Object.keys(set).length === 0) return;
    await this.write(run.row, 'available', set, (changes, transaction) => run.update(changes, transaction));
  }

  /** The last write of a run. Throws `RowLostError`, `InvalidTransitionError`. */
  async finish(run: Run<RecordingRow>, status: RecordingState, next: Next, set: Changes): Promise<void> {
    await this.write(run.row, status, set, (changes, transaction) => run.finish(next, changes, transaction));
  }

  /**
   * When the download is given up: `downloadDeadlineMs` after it began to be tried, or at the deadline of the clip, but not within
   * the first hour.
   */
  async deadline(row: RecordingRow, downloadDeadlineMs: number): Promise<Date> {
    const { tried_since: since, part_id: partId } = row;
    if (partId === null) return new Date(since.getTime() + downloadDeadlineMs);
    const { deadlineAt } = await this.parts.findPart(row.hauler_id, partId);
    return new Date(Math.max(deadlineAt.getTime(), since.getTime() + MIN_CLIP_MS));
  }

  async exists({ hauler_id: haulerId, id }: RecordingRow): Promise<boolean> {
    const rows = await this.database.query('SELECT FROM recordings WHERE hauler_id = $1 AND id = $2', [haulerId, id]);
    return rows.length > 0;
  }

  /** The names that the partner returned for the cameras of the recording's truck. */
  async cameraNames({ connection_id: connectionId, truck_id: truckId }: RecordingRow): Promise<NamePair[]> {
    const [pairs = []] = await namePairsOf(this.database, [{ connectionId, truckId }]);
    return pairs;
  }

  private async write(
    row: RecordingRow,
    status: RecordingState,
    set: Changes,
    write: (changes: Changes, transaction?: Sql) => Promise<void>,
  ): Promise<void> {
    if (row.status !== status) RECORDING_STATES.assertTransition(row.status, status);
    const changes = { status, updated_at: new Date(), ...set };
    const { hauler_id: haulerId, part_id: partId } = row;
    const event = partId === null ? givenUp(row, status, set) : undefined;
    if (partId === null && event === undefined) return write(changes);
    await this.database.transaction(async (transaction) => {
      await write(changes, transaction);
      if (event !== undefined) await this.outbox.record(transaction, event);
      if (partId === null) return;
      const step = downloadEvent(status, set);
      if (step !== undefined) {
        await recordClipEvent(transaction, { haulerId, id: partId }, { ...step, recordingId: row.id });
      }
      await this.parts.updatePartFromClips(transaction, haulerId, partId, row.id);
    });
  }
}

/** Counting more would take longer than the other metrics together. */
const MAX_COUNTED_ROWS = 100_000;
/** The most urgent rows of a connection, which those in work are. Each is read, not only its entry in the index: each scrape of the metrics asks. */
const MAX_URGENT_ROWS = 10_000;

export interface DownloadCounts {
  /** Of at most `MAX_COUNTED_ROWS`. */
  readonly waiting: number;
  /** Of at most `MAX_URGENT_ROWS` of each connection, as the next one. */
  readonly downloading: number;
  /** Waiting files whose links expire within 10 minutes, or have expired. */
  readonly atRisk: number;
}

export async function countDownloads(database: Sql): Promise<DownloadCounts> {
  return database.only<DownloadCounts>(
    `WITH RECURSIVE ${WAITING}
     SELECT due - downloading AS waiting, downloading, "atRisk" FROM (
       SELECT count(*)::int AS due FROM (SELECT FROM waiting CROSS JOIN LATERAL (
         SELECT FROM recordings AS r WHERE r.connection_id = waiting.id AND r.due_at IS NOT NULL
         LIMIT ${MAX_COUNTED_ROWS}) AS entry LIMIT ${MAX_COUNTED_ROWS}) AS first) AS counted, (
       SELECT count(started_at)::int AS downloading,
         count(*) FILTER (WHERE started_at IS NULL AND expires_at < now() + interval '10 minutes')::int AS "atRisk"
       FROM (SELECT urgent.* FROM waiting CROSS JOIN LATERAL (
         SELECT r.started_at, r.expires_at FROM recordings AS r WHERE r.connection_id = waiting.id AND r.due_at IS NOT NULL
         ORDER BY r.fetch_by LIMIT ${MAX_URGENT_ROWS}) AS urgent LIMIT ${MAX_COUNTED_ROWS}) AS first) AS read`,
    [],
  );
}

/** Downloads of a truck that wait, and have failed so far or whose link expires within an hour. */
export interface RiskRow extends TruckRow {
  readonly count: number;
  readonly failing: number;
  readonly since: Date;
  /** When the first link expires; null if no link expires within an hour. */
  readonly deadline: Date | null;
}

/** Of the `MAX_URGENT_ROWS` most urgent rows of each connection. */
export function footageAtRisk(database: Sql): Promise<RiskRow[]> {
  return database.query<RiskRow>(
    `WITH RECURSIVE ${WAITING}
     SELECT hauler_id, connection_id, truck_id, count(*)::float8 AS count,
       (count(*) FILTER (WHERE last_error IS NOT NULL))::float8 AS failing, min(tried_since) AS since,
       min(expires_at) FILTER (WHERE link IS NOT NULL AND expires_at < now() + interval '1 hour') AS deadline
     FROM waiting CROSS JOIN LATERAL (
       SELECT r.* FROM recordings AS r WHERE r.connection_id = waiting.id AND r.due_at IS NOT NULL
       ORDER BY r.fetch_by LIMIT ${MAX_URGENT_ROWS}) AS urgent
     WHERE ${OF_CONNECTION} AND ${IS_AT_RISK}
     GROUP BY hauler_id, connection_id, truck_id`,
    [],
  );
}

/** What is announced of a continuous recording: that it is given up. */
function givenUp(row: RecordingRow, status: RecordingState, set: Changes): HappenedEvent | undefined {
  if (status !== 'failed' && status !== 'expired') return undefined;
  const { hauler_id: haulerId, connection_id: connectionId, truck_id: truckId, camera_id: cameraId } = row;
  const reason = typeof set['reason_code'] === 'string' ? set['reason_code'] : status;
  const data = { connectionId, recordingId: row.id, truckId, cameraId, reason };
  return { topic: 'recording.failed', haulerId, connectionId, data };
}

/** The step of a clip's download; undefined for a step that the history does not show. */
function downloadEvent(
  status: RecordingState,
  { reason, link, relinks, size_bytes: size }: Changes,
): Pick<ClipEvent, 'kind' | 'text'> | undefined {
  const detail = typeof reason === 'string' ? ` ${reason}` : '';
  if (typeof link === 'string')
    return { kind: 'link-replaced', text: `The partner listed new link ${String(relinks)}.` };
  if (status !== 'available') {
    const text =
      status === 'stored' ? `The file is stored, ${String(size)} bytes.` : `The download ended as ${status}.`;
    return { kind: 'download', text: text + detail };
  }
  if (detail === '') return undefined;
  return { kind: 'download', text: `A new ${link === null ? 'link' : 'attempt'} is needed.${detail}` };
}
