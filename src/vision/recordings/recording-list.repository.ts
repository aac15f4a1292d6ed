import { FILE_REMOVED, type RecordingQuery } from '../../contracts/admin/recordings.routes.js';
import { type ListPage, listPage, type SqlList } from '../../core/database/list-page.js';
import type { Sql } from '../../core/database/sql.js';
import { haulerOf } from '../client/vision-connections.repository.js';
import type { CameraName } from '../truck.js';
import { MAX_MS, type RecordingState, type ShownState } from './recording.rules.js';

/** What is needed of a recording beside its answer, which has all columns of `findRecordings`. */
export interface AdminRecordingRow {
  readonly connection_id: string;
  readonly truck_id: string;
  readonly camera_id: string;
  readonly start_time: Date;
  readonly status: ShownState;
  /** A bigint, as text. */
  readonly size_bytes: string | null;
  readonly sha256: string | null;
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

/** Of each state, because the index of lists begins with it. */
const STATES = ['available', 'stored', 'expired', 'failed'] as const satisfies readonly RecordingState[];

/** A recording is not longer, as far as coverage knows. */
const MAX_DAYS = MAX_MS / 86_400_000;

/** $1 connection, $2 truck, $3 source, $4 from, $5 to, $6 camera, $7 to $9 its other names, $10 whether it is downloaded, $11 hauler, $12 and $13 a time that it shares. */
const FOUND = `SELECT id, start_time, hauler_id AS list_hauler FROM recordings
      WHERE ($1::uuid IS NULL OR connection_id = $1) AND ($11::uuid IS NULL OR hauler_id = $11)
        AND ($2::text IS NULL OR truck_id = $2) AND ($3::text IS NULL OR source = $3)
        AND ($10::boolean IS NULL OR ${IS_DOWNLOADING} = $10)
        AND ($4::timestamptz IS NULL OR start_time >= $4) AND ($5::timestamptz IS NULL OR start_time < $5)
        AND ($12::timestamptz IS NULL OR start_time > $12::timestamptz - interval '${MAX_DAYS} days' AND end_time > $12)
        AND ($13::timestamptz IS NULL OR start_time < $13)
        AND ($6::text IS NULL OR camera_id = $6 OR (connection_id, truck_id, camera_id) IN (
          SELECT * FROM unnest($7::uuid[], $8::text[], $9::text[])))`;

/** Ids, the latest start first. `others` are the other names of the camera. */
export async function recordingPage(
  database: Sql,
  query: RecordingQuery,
  others: readonly CameraName[],
): Promise<ListPage<{ readonly id: string }>> {
  const { connectionId, truckId, cameraId, source, from, to, overlaps } = query;
  const [status, isDownloading] = storedState(query.status);
  const isOfTruck = connectionId !== undefined && truckId !== undefined && status === null;
  // The index of cameras begins with the hauler.
  const haulerId = query.haulerId ?? (isOfTruck ? await haulerOf(database, connectionId) : undefined);
  const shown = STATES.filter((state) => status === null || status === state);
  const list: SqlList = {
    name: 'recordings',
    // A truck has few recordings, which the index of cameras finds.
    sql: isOfTruck ? FOUND : shown.map((state) => `${FOUND} AND status = '${state}'`),
    parameters: [
      ...[connectionId, truckId, source, from, to, cameraId].map((value) => value ?? null),
      others.map((camera) => camera.connectionId),
      others.map((camera) => camera.truckId),
      others.map((camera) => camera.cameraId),
      isDownloading,
      haulerId ?? null,
      overlaps?.from ?? null,
      overlaps?.to ?? null,
    ],
    hasHaulers: true,
    key: ['start_time', 'id'],
    order: 'DESC',
  };
  return listPage(database, list, query);
}

/** The latest start first. */
export function findRecordings(database: Sql, ids: readonly string[]): Promise<AdminRecordingRow[]> {
  return database.query<AdminRecordingRow>(
    `SELECT hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id, start_time,
       end_time, duration_seconds, ${SHOWN_STATUS} AS status, coalesce(reason, last_error) AS reason,
       CASE WHEN deleted_at IS NULL THEN reason_code ELSE '${FILE_REMOVED}' END AS reason_code, expires_at, size_bytes, sha256, created_at, updated_at,
       attempts, due_at, started_at, stored_at, deleted_at
     FROM recordings WHERE id = ANY ($1::uuid[]) ORDER BY start_time DESC, id DESC`,
    [ids],
  );
}

/** The files stored since an hour, by the hour in which they were stored. Retention deletes none of the last day. */
export function countStoredByHour(database: Sql, since: Date): Promise<{ hour: Date; count: number }[]> {
  return database.query<{ hour: Date; count: number }>(
    `SELECT date_trunc('hour', stored_at, 'UTC') AS hour, count(*)::float8 AS count
     FROM haulers, unnest(ARRAY['on-demand', 'continuous']) AS kept (source), LATERAL (
       SELECT stored_at FROM recordings AS r
       WHERE (r.hauler_id, r.source) = (haulers.id, kept.source) AND r.status = 'stored' AND r.stored_at >= $1) AS stored
     GROUP BY 1 ORDER BY 1`,
    [since],
  );
}
