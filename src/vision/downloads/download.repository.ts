import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Querying } from '../../database/sql.js';
import { inTransaction } from '../../database/transaction.js';
import type { Changes, Next, Run } from '../../work/run.js';
import type { Backlog } from '../../work/work-kind.js';
import { ClipsRepository, recordClipEvent } from '../clips/clips.repository.js';
import type { ClipEvent } from '../clips/video-requests.repository.js';
import { namePairsOf } from '../recordings/camera-names.repository.js';
import type { NamePair } from '../recordings/camera-names.rules.js';
import { RECORDING_STATES, type RecordingState } from '../recordings/recording.rules.js';
import type { ResumePoint } from './download-order.js';

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

/** The columns that the start of a run returns besides the key. */
export const RECORDING_COLUMNS: readonly (keyof RecordingRow)[] = [
  'connection_id',
  'part_id',
  'partner_recording_id',
  'truck_id',
  'camera_id',
  'start_time',
  'end_time',
  'status',
  'started_at',
  'last_error',
  'link',
  'expires_at',
  'relinks',
  'received_bytes',
  'draft_id',
  'draft_bytes',
  'draft_total',
  'draft_validator',
  'created_at',
  'tried_since',
];

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

/**
 * Rows in the order of expiry that are read to find the most urgent connections. They are read whether they are due or not,
 * so the other connections are found by their ids.
 */
const HEAD_ROWS = 500;

/** A clip that is ready just before its deadline, or was revived after it, is tried for this time. */
const MIN_CLIP_MS = 3_600_000;

/** Changes the state of recordings by the table of transitions, and updates the states of their parts and requests. */
@Injectable()
export class DownloadRepository implements Backlog {
  readonly mayBeDueSql =
    'SELECT true FROM recordings WHERE due_at IS NOT NULL AND deleted_at IS NULL ORDER BY fetch_by LIMIT 1';
  /** The last connection that was found by its id: the next search continues after it, so each has its turn. */
  private foundUpTo = FIRST_ID;

  constructor(
    private readonly dataSource: DataSource,
    private readonly parts: ClipsRepository,
  ) {}

  /** Updates the part of a clip whose download begins. Throws `RowLostError`. */
  async begin(run: Run<RecordingRow>): Promise<void> {
    const { hauler_id: haulerId, part_id: partId } = run.row;
    if (partId === null) return;
    await inTransaction(this.dataSource, async (manager) => {
      await run.hold(manager);
      await this.parts.updatePartFromClips(manager, haulerId, partId);
    });
  }

  /** The download stops and is tried again. The run then fails. Throws `RowLostError`. */
  async defer(run: Run<RecordingRow>, set: Changes = {}): Promise<void> {
    if (run.row.part_id === null && Object.keys(set).length === 0) return;
    await this.write(run.row, 'available', set, (changes, manager) => run.update(changes, manager));
  }

  /** The last write of a run. Throws `RowLostError`, `InvalidTransitionError`. */
  async finish(
    run: Run<RecordingRow>,
    row: RecordingRow,
    status: RecordingState,
    next: Next,
    set: Changes = {},
  ): Promise<void> {
    await this.write(row, status, set, (changes, manager) => run.finish(next, changes, manager));
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

  /** The names that the partner returned for the cameras of the recording's truck. */
  async cameraNames({ connection_id: connectionId, truck_id: truckId }: RecordingRow): Promise<NamePair[]> {
    const [pairs = []] = await namePairsOf(this.dataSource, [{ connectionId, truckId }]);
    return pairs;
  }

  /** The time range of the recording, extended by the waiting recordings of its truck within six hours. */
  async waitingRange(row: RecordingRow): Promise<{ readonly start: Date; readonly end: Date }> {
    const [range] = await this.dataSource.query<[{ start: Date | null; end: Date | null }]>(
      `SELECT least(min(start_time), $3) AS start, greatest(max(end_time), $4) AS "end" FROM recordings
       WHERE connection_id = $1 AND truck_id = $2 AND part_id IS NULL AND status = 'available'
         AND start_time >= $3::timestamptz - interval '6 hours' AND end_time <= $4::timestamptz + interval '6 hours'
         AND start_time < $4::timestamptz + interval '6 hours'`,
      [row.connection_id, row.truck_id, row.start_time, row.end_time],
    );
    return { start: range.start ?? row.start_time, end: range.end ?? row.end_time };
  }

  /**
   * Those of the first rows in the order of expiry, then the others in the order of their ids. `deleted_at IS NULL` and
   * `relinks >= 0` hold for every due row; each matches the predicate of one index alone. With statistics from a time with
   * fewer due rows PostgreSQL preferred the wrong one of these indexes, here or when rows are started, and read all due rows.
   */
  async lanes(kind: string, limit: number): Promise<string[]> {
    const found = await this.dataSource.query<{ lane: string; isUrgent: boolean }[]>(
      `WITH head AS (
         SELECT connection_id, fetch_by, due_at FROM recordings WHERE due_at IS NOT NULL AND deleted_at IS NULL
         ORDER BY fetch_by LIMIT ${HEAD_ROWS}),
       urgent AS (
         SELECT connection_id AS id, min(fetch_by) AS fetch_by FROM head WHERE due_at <= now() GROUP BY connection_id),
       others AS (
         SELECT c.id, NULL::timestamptz FROM connections AS c
         CROSS JOIN LATERAL (
           SELECT FROM recordings AS r WHERE r.connection_id = c.id AND r.due_at <= now() AND r.relinks >= 0
           ORDER BY r.due_at LIMIT 1) AS due
         WHERE c.id > $3 AND EXISTS (SELECT FROM head) AND NOT EXISTS (SELECT FROM urgent WHERE urgent.id = c.id)
           AND NOT EXISTS (SELECT FROM lanes AS l
             WHERE l.kind = $1 AND l.lane = c.id::text AND l.owned_until > now())
         ORDER BY c.id LIMIT $2)
       SELECT id::text AS lane, fetch_by IS NOT NULL AS "isUrgent"
       FROM (SELECT * FROM urgent UNION ALL SELECT * FROM others) AS found
       WHERE NOT EXISTS (SELECT FROM lanes AS l WHERE l.kind = $1 AND l.lane = found.id::text AND l.owned_until > now())
       ORDER BY fetch_by NULLS LAST, id LIMIT $2`,
      [kind, limit, this.foundUpTo],
    );
    // After the last one the search starts again with the first.
    this.foundUpTo =
      found.length < limit ? FIRST_ID : (found.findLast(({ isUrgent }) => !isUrgent)?.lane ?? this.foundUpTo);
    return found.map(({ lane }) => lane);
  }

  async oldestDue(): Promise<number | null> {
    const [row] = await this.dataSource.query<[{ age: number | null }]>(
      `SELECT extract(epoch FROM now() - min(due.due_at))::float8 AS age FROM connections AS c CROSS JOIN LATERAL (
         SELECT r.due_at FROM recordings AS r
         WHERE r.connection_id = c.id AND r.due_at <= now() AND r.relinks >= 0 AND r.started_at IS NULL
         ORDER BY r.due_at LIMIT 1) AS due`,
      [],
    );
    return row.age;
  }

  private async write(
    row: RecordingRow,
    status: RecordingState,
    set: Changes,
    write: (changes: Changes, manager?: EntityManager) => Promise<void>,
  ): Promise<void> {
    if (row.status !== status) RECORDING_STATES.assertTransition(row.status, status);
    const changes = { status, updated_at: new Date(), ...set };
    const { hauler_id: haulerId, part_id: partId } = row;
    if (partId === null) return write(changes);
    await inTransaction(this.dataSource, async (manager) => {
      await write(changes, manager);
      const event = downloadEvent(status, set);
      if (event !== undefined) {
        await recordClipEvent(manager, { haulerId, id: partId }, { ...event, recordingId: row.id });
      }
      await this.parts.updatePartFromClips(manager, haulerId, partId, row.id);
    });
  }
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** The most urgent rows, which those in work are. Counting more would take longer than the other metrics together. */
const MAX_COUNTED_ROWS = 100_000;
/** Only the earliest links are at risk, so later ones are not read. */
const MAX_WAITING_ROWS = 20_000;

export interface DownloadCounts {
  /** At most `MAX_COUNTED_ROWS`. */
  readonly waiting: number;
  readonly downloading: number;
  /** The average duration of the latest downloads in milliseconds; null before the first one. */
  readonly file_ms: number | null;
}

export async function countDownloads(database: Querying): Promise<DownloadCounts> {
  const [row] = await database.query<[DownloadCounts]>(
    `SELECT first.all - first.downloading AS waiting, first.downloading,
       (SELECT avg(fetch_ms)::float8 FROM (SELECT fetch_ms FROM recordings WHERE status = 'stored'
        ORDER BY stored_at DESC LIMIT 200) AS latest) AS file_ms
     FROM (SELECT count(*)::int AS all, count(started_at)::int AS downloading
       FROM (SELECT started_at FROM recordings WHERE due_at IS NOT NULL AND deleted_at IS NULL
         ORDER BY fetch_by LIMIT ${MAX_COUNTED_ROWS}) AS due) AS first`,
    [],
  );
  return row;
}

export interface WaitingFile {
  readonly connectionId: string;
  /** When its link expires, in milliseconds since the epoch; undefined if the link has no expiry. */
  readonly expiresAt: number | undefined;
}

/** The waiting files whose links expire first. */
export async function findWaiting(database: Querying): Promise<WaitingFile[]> {
  const rows = await database.query<{ connection_id: string; expires_at: Date | null }[]>(
    `SELECT connection_id, expires_at FROM recordings WHERE due_at IS NOT NULL AND deleted_at IS NULL
       AND started_at IS NULL
     ORDER BY fetch_by LIMIT ${MAX_WAITING_ROWS}`,
    [],
  );
  return rows.map((row) => ({ connectionId: row.connection_id, expiresAt: row.expires_at?.getTime() }));
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
