import { randomUUID } from 'node:crypto';
import type { TestApp } from './app.js';
import { onServer } from './test-run.js';

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

export interface RecordingRow {
  readonly id: string;
  readonly haulerId: string;
  readonly connectionId: string;
  readonly truckId: string;
  readonly cameraId: string;
  readonly start: string;
  readonly end: string;
  readonly status: string;
  readonly source?: 'on-demand' | 'continuous';
  readonly gaps?: readonly object[];
  readonly link?: string;
  /** Of a stored file, and how long ago it was stored. */
  readonly file?: { readonly sizeBytes: number; readonly sha256: string; readonly storedDays: number };
}

/** Recordings as listings and downloads would have written them, without their files. */
export async function addRecordings(app: TestApp, rows: readonly RecordingRow[]): Promise<void> {
  await app.dataSource.query(
    `INSERT INTO recordings (hauler_id, id, connection_id, source, part_id, partner_recording_id, customer_id, truck_id,
       camera_id, start_time, end_time, duration_seconds, status, gaps, link, fetch_by, created_at, updated_at, due_at,
       size_bytes, sha256, stored_at)
     SELECT "haulerId", id, "connectionId", source, CASE source WHEN 'on-demand' THEN gen_random_uuid() END, 'partner-' || id,
       'customer-1', "truckId", "cameraId", start, "end", extract(epoch FROM "end" - start), status, gaps, link, now(), now(),
       now(), CASE WHEN link IS NOT NULL THEN now() END, (file->>'sizeBytes')::bigint, file->>'sha256',
       now() - (file->>'storedDays')::float8 * interval '1 day'
     FROM json_to_recordset($1) AS rows (id uuid, "haulerId" uuid, "connectionId" uuid, "truckId" text, "cameraId" text,
       start timestamptz, "end" timestamptz, status text, source text, gaps jsonb, link text, file json)
     ON CONFLICT DO NOTHING`,
    [JSON.stringify(rows.map((row) => ({ source: 'continuous', ...row })))],
  );
}

/** Names that the partner returned for requested cameras of TRUCK-7. */
export async function addCameraNames(
  app: TestApp,
  { haulerId, connectionId }: { haulerId: string; connectionId: string },
  pairs: readonly { readonly requested: string; readonly returned: string }[],
): Promise<void> {
  await app.dataSource.query(
    `INSERT INTO partner_camera_names (hauler_id, connection_id, truck_id, requested_name, returned_name)
     SELECT $1, $2, 'TRUCK-7', requested, returned FROM unnest($3::text[], $4::text[]) AS pair (requested, returned)
     ON CONFLICT DO NOTHING`,
    [haulerId, connectionId, pairs.map(({ requested }) => requested), pairs.map(({ returned }) => returned)],
  );
}

/** So many chunks of 59.5 s of the front camera of TRUCK-7, one a minute from the start on. */
export const addMinutes = (app: TestApp, connectionId: string, start: string, count: number): Promise<unknown> =>
  // Without the time limits of the service.
  onServer(app.env.DATABASE_URL, (client) =>
    client.query(
      `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
         start_time, end_time, duration_seconds, status, fetch_by, created_at, updated_at)
       SELECT (SELECT hauler_id FROM connections WHERE id = $1), gen_random_uuid(), $1, 'continuous', n, 'c', 'TRUCK-7',
         'front', begins, begins + interval '59.5 seconds', 59, 'stored', now(), now(), now()
       FROM (SELECT n, $2::timestamptz + n * interval '1 minute' AS begins
             FROM generate_series(0, $3::integer - 1) AS n) AS series`,
      [connectionId, start, count],
    ),
  );

/** A table that cannot be read while `work` runs. */
export async function withoutTable<T>(app: TestApp, table: string, work: () => Promise<T>): Promise<T> {
  await app.dataSource.query(`ALTER TABLE ${table} RENAME TO ${table}_away`);
  try {
    return await work();
  } finally {
    await app.dataSource.query(`ALTER TABLE ${table}_away RENAME TO ${table}`);
  }
}

/** The action log refuses this action while `work` runs. */
export async function withoutActions<T>(app: TestApp, action: string, work: () => Promise<T>): Promise<T> {
  await app.dataSource.query(`ALTER TABLE actions ADD CONSTRAINT full_log CHECK (action <> '${action}') NOT VALID`);
  try {
    return await work();
  } finally {
    await app.dataSource.query('ALTER TABLE actions DROP CONSTRAINT full_log');
  }
}

/** Also those of holds, erasures and months, which the product keeps. */
export async function deleteKeptRows(app: TestApp): Promise<void> {
  const tables = ['holds', 'erasures', 'hauler_retention', 'recording_floors', 'coverage_days', 'recording_shares'];
  for (const table of [...tables, 'partner_camera_names']) await app.dataSource.query(`DELETE FROM ${table}`);
}

/** Whether there is a partition of recordings for the month of this time. */
export async function hasMonth(app: TestApp, time: string): Promise<boolean> {
  const name = `recordings_${time.slice(0, 7).replace('-', '')}`;
  const [row] = await app.dataSource.query<[{ name: string | null }]>('SELECT to_regclass($1) AS name', [name]);
  return row.name !== null;
}

interface WrittenDelivery {
  readonly data: object;
  /** What the receiver answered. */
  readonly answer: string | null;
}

/** Deliveries to a webhook endpoint that is gone. */
export const addDeliveries = (
  app: TestApp,
  haulerId: string,
  endpointId: string,
  rows: readonly WrittenDelivery[],
): Promise<unknown> =>
  app.dataSource.query(
    `INSERT INTO webhook_deliveries (id, endpoint_id, hauler_id, topic, data, status, due_at, response_status, response_body)
     SELECT gen_random_uuid(), $1, $2, 'ticket.created', data, 'delivered', NULL, 200, body
     FROM unnest($3::text[], $4::text[]) AS row (data, body)`,
    [endpointId, haulerId, rows.map(({ data }) => JSON.stringify(data)), rows.map(({ answer }) => answer)],
  );

/** All that is stored of the deliveries to an endpoint. */
export async function readDeliveries(app: TestApp, endpointId: string): Promise<string[]> {
  const sql = 'SELECT d::text AS text FROM webhook_deliveries AS d WHERE endpoint_id = $1';
  return (await app.dataSource.query<{ text: string }[]>(sql, [endpointId])).map(({ text }) => text);
}

/** Findings about parts of a partner's lists, as they were received. */
export const addRawFindings = (
  app: TestApp,
  { haulerId, connectionId }: { haulerId: string; connectionId: string },
  parts: Readonly<Record<string, string>>,
): Promise<unknown> =>
  app.dataSource.query(
    `INSERT INTO vision_findings (hauler_id, connection_id, digest, path, reason, raw, first_seen_at, last_seen_at)
     SELECT $1, $2, key, 'data.recordings[]', 'wrong', value, now(), now() FROM json_each_text($3::json)`,
    [haulerId, connectionId, JSON.stringify(parts)],
  );

/** Findings with these numbers as digests, the first of which were last seen longest ago. */
export const addOldFindings = (
  app: TestApp,
  { haulerId, id }: { haulerId: string; id: string },
  { from, to, seenDays }: { from: number; to: number; seenDays: number },
): Promise<unknown> =>
  app.dataSource.query(
    `INSERT INTO vision_findings (hauler_id, connection_id, digest, path, reason, first_seen_at, last_seen_at)
     SELECT $1, $2, i, 'data.items[0].truckId', 'is missing', now() - interval '200 days',
       now() - $5 * interval '1 day' + i * interval '1 microsecond'
     FROM generate_series($3::integer, $4::integer) i`,
    [haulerId, id, from, to, seenDays],
  );

/** How many findings a connection has, and the first and the last of their numbers. */
export async function readOldFindings(app: TestApp, connectionId: string) {
  const [row] = await app.dataSource.query<[{ count: number; first: number; last: number }]>(
    `SELECT count(*)::integer AS count, min(digest::integer) AS first, max(digest::integer) AS last
     FROM vision_findings WHERE connection_id = $1`,
    [connectionId],
  );
  return row;
}

/** A ticket of a hauler, about sites that need not be synchronised. Times are ISO texts. */
export async function addTicket(
  app: TestApp,
  haulerId: string,
  {
    inbound,
    outbound,
    customFields = { truckNumber: 'TRUCK-7' },
  }: { inbound?: string; outbound?: string; customFields?: Readonly<Record<string, string>> },
): Promise<string> {
  const id = randomUUID();
  await app.dataSource.query(
    `INSERT INTO tickets (hauler_id, id, site_id, revision, inbound_number, inbound_updated_at, outbound_number,
       outbound_updated_at, materials, custom_fields, created_at, updated_at)
     VALUES ($1, $2, $3, 1, $4, $5, $6, $7, '[]', $8, now(), now())`,
    [
      ...[haulerId, id, randomUUID()],
      ...(inbound === undefined ? [null, null] : [`IN-${id}`, inbound]),
      ...(outbound === undefined ? [null, null] : [`OUT-${id}`, outbound]),
      JSON.stringify(customFields),
    ],
  );
  return id;
}

/** An enabled subscription that has read nothing since 2026 began. */
export const addSubscription = (
  app: TestApp,
  haulerId: string,
  connectionId: string,
  truckId: string,
): Promise<unknown> =>
  app.dataSource.query(
    `INSERT INTO video_subscriptions (hauler_id, id, connection_id, customer_id, truck_id, start_time, interval_seconds,
       enabled, read_until, created_at, updated_at)
     VALUES ($1, gen_random_uuid(), $2, 'c', $3, '2026-01-01', 300, true, '2026-01-01', now(), now())`,
    [haulerId, connectionId, truckId],
  );

/** A requested clip that has failed. */
export async function failClip(app: TestApp, requestId: string): Promise<void> {
  for (const [table, key] of [
    ['video_requests', 'id'],
    ['video_request_parts', 'request_id'],
  ]) {
    await app.dataSource.query(`UPDATE ${table} SET status = 'failed', reason = 'no such truck' WHERE ${key} = $1`, [
      requestId,
    ]);
  }
}

/** A hold over TRUCK-7 that was created without a look at running erasures. */
export const addHold = (
  app: TestApp,
  { haulerId, connectionId }: { haulerId: string; connectionId: string },
  { from, to, caseId }: { from: string; to: string; caseId: string },
): Promise<unknown> =>
  app.dataSource.query(
    `INSERT INTO holds (hauler_id, id, connection_id, truck_id, start_time, end_time, case_id, reason, created_by)
     VALUES ($1, gen_random_uuid(), $2, 'TRUCK-7', $3, $4, $5, 'late', 'admin')`,
    [haulerId, connectionId, from, to, caseId],
  );

/** Starts a confirmed erasure. */
export const startErasure = (app: TestApp, id: string): Promise<unknown> =>
  app.dataSource.query("UPDATE erasures SET status = 'running', due_at = now() WHERE id = $1", [id]);

/** The file of a recording was deleted. */
export const endRecording = (app: TestApp, id: string): Promise<unknown> =>
  app.dataSource.query("UPDATE recordings SET status = 'expired', deleted_at = now() WHERE id = $1", [id]);

/** The state after a process was killed between the publication of a file and the update of its row. */
export const forgetFile = (app: TestApp, connectionId: string, link: string): Promise<unknown> =>
  app.dataSource.query(
    `UPDATE recordings SET status = 'available', size_bytes = NULL, sha256 = NULL, stored_at = NULL, fetch_ms = NULL,
       link = $2, expires_at = now() - interval '1 minute', due_at = now(), started_at = now() - interval '1 hour'
     WHERE connection_id = $1`,
    [connectionId, link],
  );

/** The stored links. They are secrets, and are deleted once they are not needed. */
export async function readLinks(app: TestApp, connectionId: string): Promise<(string | null)[]> {
  const sql = 'SELECT link FROM recordings WHERE connection_id = $1';
  return (await app.dataSource.query<{ link: string | null }[]>(sql, [connectionId])).map(({ link }) => link);
}

/** The largest file of the hosted partner side that a row can name. */
export const enlargeHostedFiles = (app: TestApp): Promise<unknown> =>
  app.dataSource.query('UPDATE reference_recordings SET size_bytes = 1152921504606846976');

export type HostedTable = 'reference_recordings' | 'reference_clips';

export const hostedIds = async ({ dataSource }: TestApp, table: HostedTable): Promise<string[]> =>
  (await dataSource.query<{ id: string }[]>(`SELECT id FROM ${table}`)).map(({ id }) => id);

export const deleteHostedRequest = ({ dataSource }: TestApp, id: string): Promise<unknown> =>
  dataSource.query('DELETE FROM reference_video_requests WHERE id = $1', [id]);

/** Commits of this table take so long, and no timeout cancels them, like those of a server with a slow disk. */
export const slowCommits = ({ dataSource }: TestApp, table: HostedTable, seconds: number): Promise<unknown> =>
  dataSource.query(`
    CREATE FUNCTION slow_${table}() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE ends timestamptz := clock_timestamp() + interval '${seconds} s';
    BEGIN
      PERFORM pg_sleep(${seconds});
      RETURN NULL;
    EXCEPTION WHEN query_canceled THEN
      PERFORM pg_sleep(extract(epoch FROM ends - clock_timestamp()));
      RETURN NULL;
    END $$;
    CREATE CONSTRAINT TRIGGER slow_commit AFTER INSERT ON ${table} DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION slow_${table}()`);

export const usualCommits = ({ dataSource }: TestApp, table: HostedTable): Promise<unknown> =>
  dataSource.query(`DROP FUNCTION slow_${table} CASCADE`);

/** Views of a recording by the console and by a link, and one of another recording. */
export const addViews = (app: TestApp, recordingId: string, otherId: string): Promise<unknown> =>
  app.dataSource.query(
    `INSERT INTO actions (id, at, actor, action, resource, changes) VALUES
       (gen_random_uuid(), '2026-02-01', 'console', 'recording.viewed', 'recording:' || $1::text, NULL),
       (gen_random_uuid(), '2026-02-02', 'share', 'share.viewed', 'recording:' || $1::text, '{"address":"192.0.2.1"}'),
       (gen_random_uuid(), '2026-02-03', 'console', 'recording.viewed', 'recording:' || $2::text, NULL)`,
    [recordingId, otherId],
  );
