import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Querying } from '../../database/sql.js';
import { inTransaction } from '../../database/transaction.js';
import type { Changes, Next, Run } from '../../jobs/run.js';
import { ClipsRepository, recordClipEvent } from '../clips/clips.repository.js';
import type { ClipEvent } from '../clips/video-requests.repository.js';
import { namePairsOf } from '../recordings/camera-names.repository.js';
import type { NamePair } from '../recordings/camera-names.rules.js';
import { RECORDING_STATES, type RecordingState } from '../recordings/recording.rules.js';
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
  /** A secret: links are signed. */
  readonly link: string | null;
  readonly expires_at: Date | null;
  readonly relinks: number;
  /** The maximum number of bytes that an attempt has received. */
  readonly received_bytes: string;
  readonly no_progress_attempts: number;
  /** Where the next attempt resumes. Either all four columns have a value, or none. */
  readonly draft_id: string | null;
  readonly draft_bytes: string | null;
  readonly draft_total: string | null;
  readonly draft_validator: string | null;
  readonly created_at: Date;
}

/** The columns that a claim returns besides the key. */
export const RECORDING_COLUMNS: readonly (keyof RecordingRow)[] = [
  'connection_id',
  'part_id',
  'partner_recording_id',
  'truck_id',
  'camera_id',
  'start_time',
  'end_time',
  'status',
  'link',
  'expires_at',
  'relinks',
  'received_bytes',
  'no_progress_attempts',
  'draft_id',
  'draft_bytes',
  'draft_total',
  'draft_validator',
  'created_at',
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

/** Changes the state of recordings by the table of transitions, and updates the states of their parts and requests. */
@Injectable()
export class DownloadRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly parts: ClipsRepository,
  ) {}

  /** Keeps the lease. Throws `LeaseLostError`, `InvalidTransitionError`. */
  async move(run: Run<RecordingRow>, row: RecordingRow, status: RecordingState, set: Changes = {}): Promise<void> {
    await this.write(row, status, set, (changes, manager) => run.update(changes, manager));
  }

  /** Releases the lease. Throws `LeaseLostError`, `InvalidTransitionError`. */
  async finish(
    run: Run<RecordingRow>,
    row: RecordingRow,
    status: RecordingState,
    next: Next,
    set: Changes = {},
  ): Promise<void> {
    await this.write(row, status, set, (changes, manager) => run.finish(next, changes, manager));
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
       WHERE connection_id = $1 AND truck_id = $2 AND part_id IS NULL AND status IN ('available', 'downloading')
         AND start_time >= $3::timestamptz - interval '6 hours' AND end_time <= $4::timestamptz + interval '6 hours'
         AND start_time < $4::timestamptz + interval '6 hours'`,
      [row.connection_id, row.truck_id, row.start_time, row.end_time],
    );
    return { start: range.start ?? row.start_time, end: range.end ?? row.end_time };
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
      await this.parts.updatePartFromClips(manager, haulerId, partId);
    });
  }
}

/** Counting more would take longer than the other metrics together. */
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
    `SELECT (SELECT count(*)::int FROM (SELECT FROM recordings WHERE due_at IS NOT NULL AND leased_until IS NULL
         LIMIT ${MAX_COUNTED_ROWS}) AS waiting) AS waiting,
       (SELECT count(*)::int FROM recordings WHERE leased_until IS NOT NULL AND status = 'downloading') AS downloading,
       (SELECT avg(fetch_ms)::float8 FROM (SELECT fetch_ms FROM recordings WHERE status = 'stored'
        ORDER BY stored_at DESC LIMIT 200) AS latest) AS file_ms`,
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
    `SELECT connection_id, expires_at FROM recordings WHERE due_at IS NOT NULL AND leased_until IS NULL
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
  if (status === 'downloading') return undefined;
  if (status !== 'available') {
    const text =
      status === 'stored' ? `The file is stored, ${String(size)} bytes.` : `The download ended as ${status}.`;
    return { kind: 'download', text: text + detail };
  }
  if (detail === '') return undefined;
  return { kind: 'download', text: `A new ${link === null ? 'link' : 'attempt'} is needed.${detail}` };
}
