import type { TestApp } from './app.js';

/**
 * Rows that the product cannot make or show, written and read for tests. With `time.ts`, the only SQL of the tests: a change of
 * a table is one edit.
 */

const VIDEO_SOURCES = ['video_windows', 'video_subscriptions', 'video_polls'];
const VIDEO_ROWS = ['recordings', 'video_request_parts', 'video_requests', 'vision_findings'];

/**
 * Deletes the sources of recordings first, so that running work cannot write any more. TRUNCATE would deadlock with
 * running work.
 */
export async function deleteVideoRows(app: TestApp): Promise<void> {
  for (const table of [...VIDEO_SOURCES, ...VIDEO_ROWS]) await app.dataSource.query(`DELETE FROM ${table}`);
}

/** Where rows are written: a service in the process of the test, or the database of another one. */
export interface RowTarget {
  readonly dataSource: { query(sql: string, values?: unknown[]): Promise<unknown> };
}

export interface Fleet {
  readonly haulerId: string;
  readonly connectionId: string;
}

export interface ChunkRow {
  readonly truck: string;
  readonly camera: string;
  readonly at: string;
  readonly seconds: number;
  readonly status: string;
  readonly code?: string;
}

/** Recordings without a file, such as a partner lists over weeks. */
export async function insertChunks(on: RowTarget, fleet: Fleet, chunks: readonly ChunkRow[]): Promise<void> {
  await on.dataSource.query(
    `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
       start_time, end_time, duration_seconds, status, reason_code, fetch_by, created_at, updated_at)
     SELECT $1, gen_random_uuid(), $2, 'continuous', gen_random_uuid(), 'c', truck, camera, at,
       at + seconds * interval '1 second', seconds, status, code, now(), now(), now()
     FROM json_to_recordset($3) AS chunks
       (truck text, camera text, at timestamptz, seconds integer, status text, code text)`,
    [fleet.haulerId, fleet.connectionId, JSON.stringify(chunks)],
  );
}

/** As after the last attempt to fetch a file. */
export async function failRecording(
  on: RowTarget,
  id: string,
  [status, code, reason] = ['failed', 'invalidFile', 'The file is not a valid MP4.'],
): Promise<void> {
  await on.dataSource.query(
    'UPDATE recordings SET status = $2, reason_code = $3, reason = $4, updated_at = now() WHERE id = $1',
    [id, status, code, reason],
  );
}

/** The name that a partner returned for a requested camera. */
export async function insertCameraName(
  on: RowTarget,
  { haulerId, connectionId }: Fleet,
  ...[truckId, requested, returned]: [truckId: string, requested: string, returned: string]
): Promise<void> {
  const values = [haulerId, connectionId, truckId, requested, returned];
  await on.dataSource.query('INSERT INTO partner_camera_names VALUES ($1, $2, $3, $4, $5)', values);
}

/** Followed trucks of a large fleet, `many 001` and so on. */
export async function insertTrucks(on: RowTarget, { haulerId, connectionId }: Fleet, count: number): Promise<void> {
  await on.dataSource.query(
    `INSERT INTO video_subscriptions (hauler_id, id, connection_id, customer_id, truck_id, start_time, interval_seconds, enabled,
       read_until, created_at, updated_at)
     SELECT $1, gen_random_uuid(), $2, 'c', 'many ' || lpad(n::text, 3, '0'), now() - interval '1 hour', 300, false, now(), now(), now()
     FROM generate_series(1, $3::int) AS n`,
    [haulerId, connectionId, count],
  );
}

/** Entries of the action log, `action 1` the newest. */
export async function insertActions(on: RowTarget, resource: string, count: number): Promise<void> {
  await on.dataSource.query(
    `INSERT INTO actions (id, at, actor, action, resource)
     SELECT gen_random_uuid(), now() - n * interval '1 minute', 'admin', 'action ' || n, $1::text
     FROM generate_series(1, $2::int) AS n`,
    [resource, count],
  );
}

/**
 * The recordings of a connection were stored so many days ago. It stands here because the console tier does not load the
 * sources, which `time.ts` does.
 */
export async function ageStored(on: RowTarget, connectionId: string, days: number): Promise<void> {
  await on.dataSource.query(
    `UPDATE recordings SET stored_at = now() - $2 * interval '1 day' WHERE connection_id = $1 AND status = 'stored'`,
    [connectionId, days],
  );
}

/** As while a hauler moves to another cell. */
export async function lockHauler(on: RowTarget, id: string): Promise<void> {
  const sql = `INSERT INTO hauler_moves (hauler_id, state, exported_at) VALUES ($1, 'locked', now())`;
  await on.dataSource.query(sql, [id]);
}
