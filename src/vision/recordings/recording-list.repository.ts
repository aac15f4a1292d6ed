import type { RecordingQuery, RecordingReason } from '../../contracts/admin/recording.dto.js';
import { type ListPage, listPage, type SqlList } from '../../database/list-page.js';
import type { Querying } from '../../database/sql.js';
import type { ShownState } from './recording.rules.js';

/** A recording as the admin API shows it. Customer, truck and camera have the partner's names. */
export interface AdminRecordingRow {
  readonly hauler_id: string;
  readonly id: string;
  readonly connection_id: string;
  readonly source: 'on-demand' | 'continuous';
  readonly partner_recording_id: string;
  readonly customer_id: string;
  readonly truck_id: string;
  readonly camera_id: string;
  readonly start_time: Date;
  readonly end_time: Date;
  readonly duration_seconds: number;
  readonly status: ShownState;
  /** Of the end, or of the last failed attempt. */
  readonly reason: string | null;
  readonly reason_code: RecordingReason | null;
  /** Retention has deleted the file. */
  readonly is_removed: boolean;
  readonly expires_at: Date | null;
  /** A bigint, as text. */
  readonly size_bytes: string | null;
  readonly sha256: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** A recording in work without a link waits for its next link. */
const IS_DOWNLOADING = "(status = 'available' AND started_at IS NOT NULL AND link IS NOT NULL)";

/** `ShownState` */
export const SHOWN_STATUS = `CASE WHEN ${IS_DOWNLOADING} THEN 'downloading' ELSE status END`;

/** The stored state and whether its file is being fetched; null where both are shown. */
function storedState(shown: RecordingQuery['status']): [status: string | null, isDownloading: boolean | null] {
  if (shown === 'downloading') return ['available', true];
  return [shown ?? null, shown === 'available' ? false : null];
}

/** Ids, the latest start first. `others` are the other names of the camera: connection, truck and name. */
export function recordingPage(
  database: Querying,
  query: RecordingQuery,
  others: readonly (readonly string[])[],
): Promise<ListPage<{ readonly id: string }>> {
  const { connectionId, truckId, cameraId, source, from, to } = query;
  const [status, isDownloading] = storedState(query.status);
  const list: SqlList = {
    name: 'recordings',
    sql: `SELECT id, start_time FROM recordings
      WHERE ($1::uuid IS NULL OR connection_id = $1) AND ($2::text IS NULL OR truck_id = $2)
        AND ($3::text IS NULL OR source = $3)
        AND ($4::text IS NULL OR status = $4) AND ($11::boolean IS NULL OR ${IS_DOWNLOADING} = $11)
        AND ($5::timestamptz IS NULL OR start_time >= $5) AND ($6::timestamptz IS NULL OR start_time < $6)
        AND ($7::text IS NULL OR camera_id = $7 OR (connection_id, truck_id, camera_id) IN (
          SELECT * FROM unnest($8::uuid[], $9::text[], $10::text[])))`,
    parameters: [
      ...[connectionId, truckId, source, status, from, to, cameraId].map((value) => value ?? null),
      ...[0, 1, 2].map((i) => others.map((names) => names[i])),
      isDownloading,
    ],
    key: ['start_time', 'id'],
    order: 'DESC',
  };
  return listPage(database, list, query);
}

/** The latest start first. */
export function findRecordings(database: Querying, ids: readonly string[]): Promise<AdminRecordingRow[]> {
  return database.query(
    `SELECT hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id, start_time,
       end_time, duration_seconds, ${SHOWN_STATUS} AS status, coalesce(reason, last_error) AS reason, reason_code,
       deleted_at IS NOT NULL AS is_removed, expires_at, size_bytes, sha256, created_at, updated_at
     FROM recordings WHERE id = ANY ($1::uuid[]) ORDER BY start_time DESC, id DESC`,
    [ids],
  );
}

/** The files stored since a time, by the hour in which they were stored. */
export function countStoredByHour(database: Querying, since: Date): Promise<{ hour: Date; count: number }[]> {
  return database.query(
    `SELECT date_trunc('hour', stored_at, 'UTC') AS hour, count(*)::float8 AS count
     FROM recordings WHERE status = 'stored' AND stored_at >= $1 GROUP BY 1`,
    [since],
  );
}
