import type { TestApp } from './app.js';
import type { DataSource } from 'typeorm';
import { randomBytes, randomUUID, createHash } from 'node:crypto';
import { onServer } from './test-run.js';
import { uuidv7 } from '../../src/core/database/uuid.js';
import { NO_COUNTS } from '../../src/site-sync/sync/sync-runs.repository.js';
import { cameraSql } from '../../src/vision/camera.sql.js';
import { FILL_CAMERAS } from '../../migrations/1795740000000-know-cameras.js';

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
  await knowCameras(app.dataSource);
}

/** Where rows are written: a service in the process of the test, or the database of another one. */
export interface RowTarget {
  readonly dataSource: { query(sql: string, values?: unknown[]): Promise<unknown> };
}

/** What the product knows of cameras after it has listed these recordings and learned these pairs of names. */
export const knowCameras = (database: RowTarget['dataSource']): Promise<unknown> =>
  database.query(`DELETE FROM cameras; ${FILL_CAMERAS}`);

/** Of the only truck of a connection: its recordings, its pairs, which of these names are one camera, and which recordings are within bounds. */
export async function readCameras({ dataSource }: TestApp, connectionId: string, names: readonly string[]) {
  const bounds = await dataSource.query<{ name: string; at: Date; isKnown: boolean }[]>(
    `SELECT r.camera_id AS name, r.start_time AS at,
       coalesce(r.start_time BETWEEN c.first_at AND c.last_at, false) AS "isKnown"
     FROM recordings AS r LEFT JOIN cameras AS c ON (c.hauler_id, c.connection_id, c.truck_id, c.name)
       = (r.hauler_id, r.connection_id, r.truck_id, r.camera_id)
     WHERE r.connection_id = $1`,
    [connectionId],
  );
  const pairs = await dataSource.query<{ requested: string; returned: string }[]>(
    `SELECT requested_name AS requested, returned_name AS returned FROM partner_camera_names WHERE connection_id = $1
     ORDER BY 1, 2`,
    [connectionId],
  );
  const same = await dataSource.query<{ one: string; other: string; same: boolean }[]>(
    `WITH named AS (
       SELECT hauler_id, id AS connection_id, 'TRUCK-7' AS truck_id, camera_id
       FROM connections, unnest($2::text[]) AS camera_id WHERE id = $1)
     SELECT one.camera_id AS one, other.camera_id AS other, ${cameraSql('one')} = ${cameraSql('other')} AS same
     FROM named AS one, named AS other`,
    [connectionId, names],
  );
  return {
    ...{ bounds, pairs, recorded: bounds.map(({ name, at }) => [name, at] as const) },
    same: same.map((each) => [each.one, each.other, each.same] as const),
  };
}

/** As the hourly deletion of old rows. */
export const removeRecordings = async (
  { dataSource }: TestApp,
  connectionId: string,
  before: string,
): Promise<void> => {
  await dataSource.query('DELETE FROM recordings WHERE connection_id = $1 AND start_time < $2', [connectionId, before]);
  await dataSource.query('DELETE FROM coverage_days WHERE connection_id = $1 AND day < $2', [connectionId, before]);
};

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
  await knowCameras(on.dataSource);
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
  await knowCameras(on.dataSource);
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

interface PollRow {
  readonly isRunning: boolean;
  /** It has ended, and the next one is not due. */
  readonly isIdle: boolean;
  /** Seconds until it is due. */
  readonly inSeconds: number;
  readonly error: string | null;
}

function theOnly<Row>([row, ...others]: readonly Row[], what: string): Row {
  if (row === undefined || others.length > 0) throw new Error(`there are ${others.length} other ${what}, or none`);
  return row;
}

/** The one poll of the customer. */
export async function readPoll(app: TestApp): Promise<PollRow> {
  const rows = await app.dataSource.query<PollRow[]>(
    `SELECT started_at IS NOT NULL AS "isRunning", started_at IS NULL AND due_at > now() AS "isIdle", extract(epoch FROM due_at - now())::float8 AS "inSeconds",
       last_error AS error FROM video_polls`,
  );
  return theOnly(rows, 'polls');
}

interface PartTimes {
  readonly status: string;
  /** Seconds. */
  readonly fromSubmitToPoll: number;
  readonly toDeadline: number;
}

/** Times of the only clip. */
export async function readPart(app: TestApp): Promise<PartTimes> {
  const rows = await app.dataSource.query<PartTimes[]>(
    `SELECT status, extract(epoch FROM next_poll_at - submitted_at)::float8 AS "fromSubmitToPoll",
       extract(epoch FROM deadline_at - now())::float8 AS "toDeadline" FROM video_request_parts`,
  );
  return theOnly(rows, 'clips');
}

/** A connection with so many clips that were requested long ago, under the ids r1, r2 and so on. */
export async function addOpenClips(app: TestApp, connectionId: string, count: number): Promise<void> {
  await app.dataSource.query(
    `INSERT INTO video_requests (hauler_id, id, connection_id, customer_id, truck_id, camera_id, start_time, end_time,
       status, deadline_at, created_at, updated_at)
     SELECT hauler_id, gen_random_uuid(), id, customer_id, 'TRUCK-7', 'front', now(), now(), 'processing',
       now() + interval '1 day', now(), now() FROM connections, generate_series(1, $2) WHERE id = $1`,
    [connectionId, count],
  );
  await app.dataSource.query(
    `INSERT INTO video_request_parts (hauler_id, id, request_id, number, connection_id, customer_id, truck_id, camera_id,
       start_time, end_time, status, partner_request_id, deadline_at, polls, next_poll_at, submitted_at, polled_individually_at)
     SELECT hauler_id, gen_random_uuid(), id, 1, connection_id, customer_id, truck_id, camera_id, '2026-01-31T08:30:00Z',
       '2026-01-31T08:35:00Z', 'processing', 'r' || row_number() OVER (), deadline_at, 5, now(), now(), now()
     FROM video_requests WHERE connection_id = $1`,
    [connectionId],
  );
  await app.dataSource.query(
    `INSERT INTO video_polls (hauler_id, connection_id, customer_id, due_at)
     SELECT hauler_id, id, customer_id, now() FROM connections WHERE id = $1`,
    [connectionId],
  );
}

/** A request with two clips: the file of one was deleted by retention, and the other was lost. Returns its id. */
export async function addHalfRemovedClip(app: TestApp, connectionId: string): Promise<string> {
  await addOpenClips(app, connectionId, 1);
  await app.dataSource.query(
    `INSERT INTO recordings (hauler_id, id, connection_id, part_id, source, partner_recording_id, customer_id, truck_id, camera_id,
       start_time, end_time, duration_seconds, status, deleted_at, fetch_by, created_at, updated_at)
     SELECT hauler_id, gen_random_uuid(), connection_id, id, 'on-demand', n, customer_id, truck_id, camera_id,
       start_time + n * interval '1 minute', end_time, 60, 'expired', CASE WHEN n = 1 THEN now() END, now(), now(), now()
     FROM video_request_parts, generate_series(1, 2) AS n WHERE connection_id = $1`,
    [connectionId],
  );
  const [rows] = await app.dataSource.query<[{ id: string }[], number]>(
    `WITH part AS (
       UPDATE video_request_parts SET status = 'expired', next_poll_at = NULL, file_removed_at = now()
       WHERE connection_id = $1 RETURNING request_id)
     UPDATE video_requests SET status = 'expired' FROM part WHERE id = request_id RETURNING id`,
    [connectionId],
  );
  return theOnly(rows, 'requests').id;
}

interface WindowRow {
  readonly start_time: Date;
  readonly end_time: Date;
  readonly due_at: Date | null;
  readonly attempts: number;
  readonly reason: string | null;
  readonly isReread: boolean;
}

/** Times of subscriptions that are still to be read, the oldest first. */
export const readWindows = (app: TestApp): Promise<WindowRow[]> =>
  app.dataSource.query(
    `SELECT start_time, end_time, due_at, attempts, reason, reread_day IS NOT NULL AS "isReread" FROM video_windows
     ORDER BY start_time`,
  );

/** A window of a subscription that failed: its times are hours from now, `due_at` is null where it was given up. */
export const addWindow = (
  app: TestApp,
  subscriptionId: string,
  {
    from,
    to,
    attempts = 1,
    dueInHours = 1,
  }: { from: number; to: number; attempts?: number; dueInHours?: number | null },
): Promise<unknown> =>
  app.dataSource.query(
    `INSERT INTO video_windows (hauler_id, id, subscription_id, connection_id, start_time, end_time, reason, last_error,
       attempts, due_at)
     SELECT hauler_id, gen_random_uuid(), id, connection_id, now() + $2 * interval '1 hour', now() + $3 * interval '1 hour',
       'oops', 'oops', $4, now() + $5 * interval '1 hour' FROM video_subscriptions WHERE id = $1`,
    [subscriptionId, from, to, attempts, dueInHours],
  );

/** Failures in a row, the last error, and seconds until the only subscription, poll or window is due. */
export async function readDue(app: TestApp, table: 'video_polls' | 'video_subscriptions' | 'video_windows') {
  const rows = await app.dataSource.query<[{ attempts: number; error: string | null; inSeconds: number }]>(
    `SELECT attempts, last_error AS error, extract(epoch FROM due_at - now())::float8 AS "inSeconds" FROM ${table}`,
  );
  return rows[0];
}

export async function secondsUntilReading({ dataSource }: TestApp, subscriptionId: string): Promise<number> {
  const [row] = await dataSource.query<[{ seconds: number }]>(
    'SELECT extract(epoch FROM due_at - now())::float8 AS seconds FROM video_subscriptions WHERE id = $1',
    [subscriptionId],
  );
  return row.seconds;
}

const LOCKS = {
  findings: 'LOCK TABLE vision_findings IN EXCLUSIVE MODE',
  polls: 'SELECT 1 FROM video_polls FOR UPDATE',
  'exchange log': 'LOCK TABLE exchanges, exchange_hours IN ACCESS EXCLUSIVE MODE',
} as const;

/** Runs `work` while another transaction holds what `lock` locks. */
export const whileLocked = <T>(
  app: TestApp,
  lock: 'findings' | 'polls' | 'exchange log',
  work: (lockParts: () => Promise<void>) => Promise<T>,
): Promise<T> =>
  app.dataSource.transaction(async (other) => {
    await other.query(LOCKS[lock]);
    return work(async () => {
      await other.query("SET LOCAL lock_timeout = '500ms'");
      await other.query('SELECT 1 FROM video_request_parts FOR UPDATE');
    });
  });

/** A hauler with one vision connection to an address that need not exist. */
export async function addVisionConnection(
  app: TestApp,
  row: { haulerId: string; id: string; baseUrl: string; sealedKey: string },
): Promise<void> {
  await app.dataSource.query("INSERT INTO haulers (id, name) VALUES ($1, 'Test')", [row.haulerId]);
  await app.dataSource.query(
    `INSERT INTO connections (hauler_id, id, interface, base_url, sealed_key, customer_id, interval_seconds, enabled,
       created_at, updated_at)
     VALUES ($1, $2, 'vision', $3, $4, 'customer-1', 300, true, now(), now())`,
    [row.haulerId, row.id, row.baseUrl, row.sealedKey],
  );
}

export interface ConnectionRow {
  readonly attempts: number;
  readonly lastError: string | null;
  readonly isRunning: boolean;
  readonly dueAt: Date | null;
  readonly dueInSeconds: number | null;
  readonly sealedKey: string;
  readonly sealedNextKey: string | null;
  readonly isRequested: boolean;
}

/** What the admin API does not show of a connection, deleted ones included. */
export async function connectionRow({ dataSource }: Pick<TestApp, 'dataSource'>, id: string): Promise<ConnectionRow> {
  const [row] = await dataSource.query<ConnectionRow[]>(
    `SELECT attempts, last_error AS "lastError", started_at IS NOT NULL AS "isRunning", due_at AS "dueAt",
       extract(epoch FROM due_at - now())::float8 AS "dueInSeconds", sealed_key AS "sealedKey",
       sealed_next_key AS "sealedNextKey", run_requested_at IS NOT NULL AS "isRequested"
     FROM connections WHERE id = $1`,
    [id],
  );
  if (row === undefined) throw new Error(`there is no connection ${id}`);
  return row;
}

/** The number of sessions that wait for an advisory lock of this one. */
export async function waitingSessions(transaction: RowTarget['dataSource']): Promise<number> {
  const [row] = (await transaction.query(
    `SELECT count(*)::int AS n FROM pg_locks ours JOIN pg_locks theirs USING (locktype, database, classid, objid)
     WHERE ours.pid = pg_backend_pid() AND ours.locktype = 'advisory' AND NOT theirs.granted`,
  )) as [{ n: number }];
  return row.n;
}

/** Each site that is stored meanwhile is an error of the database with this message. */
export async function whileSitesBreak(
  { dataSource }: TestApp,
  message: string,
  work: () => Promise<void>,
): Promise<void> {
  await dataSource.query(`
    CREATE FUNCTION break_sites() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      RAISE EXCEPTION '${message}'; END $$;
    CREATE TRIGGER break_sites BEFORE INSERT ON sites EXECUTE FUNCTION break_sites()`);
  try {
    await work();
  } finally {
    await dataSource.query('DROP FUNCTION break_sites CASCADE');
  }
}

/** An admin changes the connections at this moment. */
export const whileConnectionsAreLocked = ({ dataSource }: TestApp, work: () => Promise<void>): Promise<void> =>
  dataSource.transaction(async (manager) => {
    await manager.query('SELECT FROM connections FOR UPDATE');
    await work();
  });

type ConnectionState = Partial<
  Pick<ConnectionRow, 'attempts' | 'lastError' | 'sealedKey' | 'sealedNextKey' | 'isRunning' | 'isRequested'> & {
    readonly baseUrl: string;
    readonly isDeleted: boolean;
  }
>;

const momentIf = (is: boolean | undefined): Date | null | undefined =>
  is === undefined ? undefined : is ? new Date() : null;

/** A state of a connection in which a test begins, or which another instance writes. */
export async function setConnectionRow(
  { dataSource }: Pick<TestApp, 'dataSource'>,
  id: string,
  { isRunning, isRequested, isDeleted, ...state }: ConnectionState,
): Promise<void> {
  const values = {
    attempts: state.attempts,
    last_error: state.lastError,
    base_url: state.baseUrl,
    sealed_key: state.sealedKey,
    sealed_next_key: state.sealedNextKey,
    started_at: momentIf(isRunning),
    run_requested_at: momentIf(isRequested),
    deleted_at: momentIf(isDeleted),
  };
  for (const [column, value] of Object.entries(values)) {
    if (value !== undefined) {
      await dataSource.query(`UPDATE connections SET ${column} = $2 WHERE id = $1`, [id, value]);
    }
  }
}

export interface InsertedConnection {
  readonly id: string;
  readonly haulerId: string;
  readonly interface: 'site' | 'vision';
  readonly baseUrl: string;
  readonly sealedKey: string;
  readonly sealedNextKey: string | null;
}

/** A hauler with one paused connection, for tests of the client without the service. */
export async function insertConnection(dataSource: DataSource, connection: InsertedConnection): Promise<void> {
  await dataSource.query(`INSERT INTO haulers (id, name) VALUES ($1, 'Test')`, [connection.haulerId]);
  await dataSource.query(
    `INSERT INTO connections (hauler_id, id, interface, base_url, sealed_key, sealed_next_key, customer_id,
       interval_seconds, enabled, created_at, updated_at)
     VALUES ($1::uuid, $2, $3::text, $4, $5, $6, CASE WHEN $3::text = 'vision' THEN $1::uuid::text END, 900, false, now(), now())`,
    [
      connection.haulerId,
      connection.id,
      connection.interface,
      connection.baseUrl,
      connection.sealedKey,
      connection.sealedNextKey,
    ],
  );
}

/** A ticket of a site without a push, whose id may be old. */
export const insertTicket = (
  { dataSource }: TestApp,
  ticket: { readonly id: string; readonly haulerId: string; readonly siteId: string },
): Promise<unknown> =>
  dataSource.query(
    `INSERT INTO tickets (hauler_id, id, site_id, revision, created_at, updated_at, inbound_number, materials)
     VALUES ($1, $2, $3, 1, now(), now(), 'OLD', '[]')`,
    [ticket.haulerId, ticket.id, ticket.siteId],
  );

/** What the functions below need of a service or of a test database. */
type WithRows = Pick<TestApp, 'dataSource'>;

/** Runs `work` while another transaction holds the locks of a statement; `release` ends it early. */
async function whileHeld<T>(
  { dataSource }: WithRows,
  sql: string,
  parameters: readonly unknown[],
  work: (release: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const runner = dataSource.createQueryRunner();
  await runner.startTransaction();
  try {
    await runner.query(sql, [...parameters]);
    return await work(() => runner.rollbackTransaction());
  } finally {
    if (runner.isTransactionActive) await runner.rollbackTransaction();
    await runner.release();
  }
}

const TICKET_HOLDS = {
  locked: 'SELECT 1 FROM tickets WHERE id = $1 FOR UPDATE',
  changed: 'UPDATE tickets SET updated_at = now() WHERE id = $1',
} as const;

/** While another transaction has locked the row of a ticket, or has changed it and not committed. */
export const whileTicketIs = <T>(
  app: WithRows,
  how: keyof typeof TICKET_HOLDS,
  ticketId: string,
  work: (release: () => Promise<void>) => Promise<T>,
): Promise<T> => whileHeld(app, TICKET_HOLDS[how], [ticketId], work);

/** While another transaction has inserted an account under a name, a copy of an account, and not committed. */
export const whileNameIsTaken = <T>(
  app: WithRows,
  accountId: string,
  nameDigest: Buffer,
  work: (release: () => Promise<void>) => Promise<T>,
): Promise<T> =>
  whileHeld(
    app,
    `INSERT INTO accounts SELECT (json_populate_record(a, json_build_object('id', gen_random_uuid(),
       'account_number', 'X-' || a.account_number, 'name_digest', $2::bytea))).* FROM accounts a WHERE id = $1`,
    [accountId, nameDigest],
    work,
  );

/** More tickets of a hauler than a test can push, each with the same materials. */
export async function insertTickets(
  { dataSource }: WithRows,
  { haulerId, siteId }: { readonly haulerId: string; readonly siteId: string },
  materials: readonly object[],
  count: number,
): Promise<void> {
  // A statement may take 3 s, also on a busy machine.
  for (let first = 1; first <= count; first += 5_000) {
    await dataSource.query(
      `INSERT INTO tickets (id, hauler_id, site_id, materials, inbound_number, inbound_updated_at, revision,
                            contents_version, created_at, updated_at)
       SELECT uuidv7(interval '-1 hour' + n * interval '1 ms'), $1, $2, $3, 'M-' || n, now(), 1, now(), now(), now()
         FROM generate_series($4::int, $5::int) AS n`,
      [haulerId, siteId, JSON.stringify(materials), first, Math.min(first + 4_999, count)],
    );
  }
}

/** The database refuses an account of this name, as if it were about to stop; returns what ends that. */
export async function refuseAccount({ dataSource }: WithRows, name: string): Promise<() => Promise<unknown>> {
  await dataSource.query(
    `CREATE FUNCTION refuse_account() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN RAISE EXCEPTION 'gone' USING ERRCODE = '57P01'; END $$;
     CREATE TRIGGER refuse_account BEFORE INSERT ON accounts FOR EACH ROW
     WHEN (NEW.account_name = '${name}') EXECUTE FUNCTION refuse_account()`,
  );
  return () => dataSource.query('DROP FUNCTION refuse_account CASCADE');
}

/** How many answers are kept under an Idempotency-Key. */
export async function keptAnswers({ dataSource }: WithRows, key: string): Promise<number> {
  const [row] = await dataSource.query<[{ n: number }]>(
    'SELECT count(*)::int AS n FROM idempotency_keys WHERE key = $1',
    [key],
  );
  return row.n;
}

/** An address of a database for a user who owns its tables, and who may not create extensions. */
export async function asLimitedUser(databaseUrl: string): Promise<string> {
  const role = `limited_${randomBytes(4).toString('hex')}`;
  await onServer(databaseUrl, (client) =>
    client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'limited'; GRANT ALL ON SCHEMA public TO ${role}`),
  );
  const url = new URL(databaseUrl);
  [url.username, url.password] = [role, 'limited'];
  return url.href;
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
  await knowCameras(app.dataSource);
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
  await knowCameras(app.dataSource);
}

/** So many chunks of 59.5 s of the front camera of TRUCK-7, one a minute from the start on. */
export const addMinutes = (app: TestApp, connectionId: string, start: string, count: number): Promise<unknown> =>
  // Without the time limits of the service.
  onServer(app.env.DATABASE_URL, async (client) => {
    await client.query(
      `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
         start_time, end_time, duration_seconds, status, fetch_by, created_at, updated_at)
       SELECT (SELECT hauler_id FROM connections WHERE id = $1), gen_random_uuid(), $1, 'continuous', n, 'c', 'TRUCK-7',
         'front', begins, begins + interval '59.5 seconds', 59, 'stored', now(), now(), now()
       FROM (SELECT n, $2::timestamptz + n * interval '1 minute' AS begins
             FROM generate_series(0, $3::integer - 1) AS n) AS series`,
      [connectionId, start, count],
    );
    await knowCameras(client);
  });

/** So many lost chunks of a minute, of 20 trucks with four cameras each, in the last 30 days. */
export const addLost = (app: TestApp, connectionId: string, count: number): Promise<unknown> =>
  // Without the time limits of the service.
  onServer(app.env.DATABASE_URL, async (client) => {
    await client.query(
      `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
         start_time, end_time, duration_seconds, status, reason, reason_code, fetch_by, created_at, updated_at)
       SELECT (SELECT hauler_id FROM connections WHERE id = $1), gen_random_uuid(), $1, 'continuous', n, 'c',
         'TRUCK-' || n % 20, 'camera ' || n / 20 % 4, begins, begins + interval '1 minute', 60, 'expired',
         'The link expired before the file could be fetched, and the partner no longer lists the recording.', 'notListed',
         begins, begins, begins
       FROM (SELECT n, now() - interval '30 days' + n / 80 * interval '1 minute' AS begins
             FROM generate_series(0, $2::integer - 1) AS n) AS series`,
      [connectionId, count],
    );
    await knowCameras(client);
  });

/** The database fails, as if it were about to stop, when the lost chunk of this number is tried again; returns what ends that. */
export async function refuseRetry({ dataSource }: TestApp, number: number): Promise<() => Promise<unknown>> {
  await dataSource.query(
    `CREATE FUNCTION refuse_retry() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN RAISE EXCEPTION 'gone' USING ERRCODE = '57P01'; END $$;
     CREATE TRIGGER refuse_retry BEFORE UPDATE ON recordings FOR EACH ROW
     WHEN (NEW.partner_recording_id = '${number}') EXECUTE FUNCTION refuse_retry()`,
  );
  return () => dataSource.query('DROP FUNCTION refuse_retry CASCADE');
}

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
  const tables = ['holds', 'erasures', 'hauler_retention', 'removed_files', 'coverage_days', 'recording_shares'];
  for (const table of [...tables, 'partner_camera_names', 'cameras'])
    await app.dataSource.query(`DELETE FROM ${table}`);
}

/** Whether there is a partition of recordings for the month of this time. */
export async function hasMonth(app: TestApp, time: string): Promise<boolean> {
  const name = `recordings_${time.slice(0, 7).replace('-', '')}`;
  const [row] = await app.dataSource.query<[{ name: string | null }]>('SELECT to_regclass($1) AS name', [name]);
  return row.name !== null;
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

/** An erasure of TRUCK-7 that was requested without a look at holds. Returns its id. */
export async function addErasure(
  app: TestApp,
  { haulerId, connectionId }: { haulerId: string; connectionId: string },
  { from, to }: { from: string; to: string },
): Promise<string> {
  const [row] = await app.dataSource.query<[{ id: string }]>(
    `INSERT INTO erasures (hauler_id, id, connection_id, truck_id, start_time, end_time, status, created_by, due_at)
     VALUES ($1, gen_random_uuid(), $2, 'TRUCK-7', $3, $4, 'running', 'admin', now()) RETURNING id`,
    [haulerId, connectionId, from, to],
  );
  return row.id;
}

/** The file of a recording was deleted. */
export const endRecording = (app: TestApp, id: string): Promise<unknown> =>
  app.dataSource.query("UPDATE recordings SET status = 'expired', deleted_at = now() WHERE id = $1", [id]);

/** The state after a process was killed between the publication of a file and the update of its row. */
export const forgetFile = (app: TestApp, connectionId: string, link: string): Promise<unknown> =>
  app.dataSource.query(
    `UPDATE recordings SET status = 'available', size_bytes = NULL, sha256 = NULL, stored_at = NULL,
       link = $2, expires_at = now() - interval '1 minute', due_at = now(), started_at = now() - interval '1 hour'
     WHERE connection_id = $1`,
    [connectionId, link],
  );

/** The stored links. They are secrets, and are deleted once they are not needed. */
export async function readLinks(app: TestApp, connectionId: string): Promise<(string | null)[]> {
  const sql = 'SELECT link FROM recordings WHERE connection_id = $1';
  return (await app.dataSource.query<{ link: string | null }[]>(sql, [connectionId])).map(({ link }) => link);
}

export type HostedTable = 'reference_recordings' | 'reference_clips';

/** Views of a recording by the console and by a link, and one of another recording. */
export const addViews = (app: TestApp, recordingId: string, otherId: string): Promise<unknown> =>
  app.dataSource.query(
    `INSERT INTO actions (id, at, actor, action, resource, changes) VALUES
       (gen_random_uuid(), '2026-02-01', 'console', 'recording.viewed', 'recording:' || $1::text, NULL),
       (gen_random_uuid(), '2026-02-02', 'share', 'share.viewed', 'recording:' || $1::text, '{"address":"192.0.2.1"}'),
       (gen_random_uuid(), '2026-02-03', 'console', 'recording.viewed', 'recording:' || $2::text, NULL)`,
    [recordingId, otherId],
  );

/** Stored recordings of a minute each, one truck after the other, from `startTime` on. Returns their ids. */
export async function insertStoredRecordings(
  { dataSource }: WithRows,
  { haulerId, connectionId, file, startTime, trucks }: StoredRecordings,
): Promise<string[]> {
  const all = trucks.flatMap(({ truckId, count, days }) => new Array<[string, number]>(count).fill([truckId, days]));
  const ids = all.map(() => uuidv7());
  await dataSource.query(
    `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
       start_time, end_time, duration_seconds, status, fetch_by, created_at, updated_at, size_bytes, sha256, stored_at)
     SELECT $1, id, $2, 'continuous', 'partner-' || n, 'customer', truck, 'front', starts, starts + interval '1 minute',
       60, 'stored', now(), now(), now(), $3, $4, now() - days * interval '1 day'
     FROM unnest($5::text[], $6::int[], $8::uuid[]) WITH ORDINALITY AS r (truck, days, id, n),
       LATERAL (SELECT $7::timestamptz + n * interval '1 minute' AS starts) AS at`,
    [
      ...[haulerId, connectionId, file.length, createHash('sha256').update(file).digest('hex')],
      ...[all.map(([truckId]) => truckId), all.map(([, days]) => days), startTime, ids],
    ],
  );
  await knowCameras(dataSource);
  await addCoverageDays({ dataSource });
  return ids;
}

/** The row that the product writes for each day of a camera with a recording; its sums are not known. */
export const addCoverageDays = ({ dataSource }: WithRows): Promise<unknown> =>
  dataSource.query(
    `INSERT INTO coverage_days (hauler_id, connection_id, truck_id, camera_id, day)
     SELECT DISTINCT hauler_id, connection_id, truck_id, camera_id, day::date
     FROM recordings, generate_series(date_trunc('day', start_time AT TIME ZONE 'UTC'), end_time AT TIME ZONE 'UTC', interval '1 day') AS day
     ON CONFLICT DO NOTHING`,
  );

/** How many days of cameras of a connection have sums. */
export async function countSettledDays({ dataSource }: WithRows, connectionId: string): Promise<number> {
  const [row] = await dataSource.query<[{ count: number }]>(
    'SELECT count(stored)::integer AS count FROM coverage_days WHERE connection_id = $1',
    [connectionId],
  );
  return row.count;
}

export interface StoredRecordings {
  readonly haulerId: string;
  readonly connectionId: string;
  readonly file: Buffer;
  readonly startTime: string;
  /** How many of each truck, and how many days ago they were stored. */
  readonly trucks: readonly { readonly truckId: string; readonly count: number; readonly days: number }[];
}

/** How many recordings of each truck have which status: `T1 stored 5`. */
export async function countByTruck({ dataSource }: WithRows): Promise<string[]> {
  const rows = await dataSource.query<{ line: string }[]>(
    `SELECT concat_ws(' ', truck_id, status, count(*)) AS line FROM recordings GROUP BY truck_id, status ORDER BY 1`,
  );
  return rows.map(({ line }) => line);
}

/** Sets the retention without starting it, as the admin API would. */
export async function setRetentionDays({ dataSource }: WithRows, haulerId: string, days: number): Promise<void> {
  await dataSource.query('UPDATE hauler_retention SET continuous_days = $2 WHERE hauler_id = $1', [haulerId, days]);
}

/** The server ends a transaction that is idle for 10 s (`idle_in_transaction_session_timeout`). */
const STAY = 'SET LOCAL idle_in_transaction_session_timeout = 0';

/** Holds the locks of a statement until the returned function is called. */
async function hold({ dataSource }: WithRows, sql: string, values: unknown[] = []): Promise<() => Promise<void>> {
  const runner = dataSource.createQueryRunner();
  await runner.startTransaction();
  await runner.query(STAY);
  await runner.query(sql, values);
  return async () => {
    await runner.rollbackTransaction();
    await runner.release();
  };
}

/** Locks the rows of a table that have this value, until the returned function is called. */
export const holdRows = (on: WithRows, table: string, column: string, value: string) =>
  hold(on, `SELECT FROM ${table} WHERE ${column} = $1 FOR UPDATE`, [value]);

/** Locks a whole table in a mode of PostgreSQL, until the returned function is called. */
export const holdTable = (on: WithRows, table: string, mode = 'ACCESS EXCLUSIVE') =>
  hold(on, `LOCK TABLE ${table} IN ${mode} MODE`);

/** The rows of a table, which may be followed by a condition, in the order of their first column. */
export const rowsOf = <Row = unknown>({ dataSource }: WithRows, table: string, columns = '*'): Promise<Row[]> =>
  dataSource.query<Row[]>(`SELECT ${columns} FROM ${table} ORDER BY 1`);

/** The rows on which an instance works, by table and id. */
export async function rowsInWork({ dataSource }: WithRows): Promise<string[]> {
  const tables = await dataSource.query<{ name: string }[]>(
    `SELECT c.table_name AS name FROM information_schema.columns AS c JOIN information_schema.columns AS due
       ON (due.table_name, due.column_name) = (c.table_name, 'due_at') WHERE c.column_name = 'started_at'`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await dataSource.query<{ row: string }[]>(
      `SELECT concat_ws(' ', '${name}', to_jsonb(t) ->> 'id') AS row FROM ${name} AS t WHERE started_at IS NOT NULL`,
    );
    found.push(...rows.map(({ row }) => row));
  }
  return found;
}

export const insertHaulers = ({ dataSource }: WithRows, count: number): Promise<unknown> =>
  dataSource.query(
    `INSERT INTO haulers (id, name, created_at)
     SELECT gen_random_uuid(), 'Hauler ' || n, now() FROM generate_series(1, $1::int) AS n`,
    [count],
  );

/** A session of a person at the identity provider, the newest one. */
export interface SessionRow {
  readonly id: string;
  readonly idToken: string;
  readonly minutes: number;
}
export async function newestSession({ dataSource }: WithRows, subject: string): Promise<SessionRow> {
  const [row] = await dataSource.query<[SessionRow]>(
    `SELECT id, id_token AS "idToken", (extract(epoch FROM expires_at - created_at) / 60)::int AS minutes
     FROM console_sessions WHERE person->>'subject' = $1 ORDER BY created_at DESC LIMIT 1`,
    [subject],
  );
  return row;
}
export const setIdToken = ({ dataSource }: WithRows, { id }: SessionRow, text: string): Promise<unknown> =>
  dataSource.query('UPDATE console_sessions SET id_token = $2 WHERE id = $1', [id, text]);

/** Holds a table so that nobody else reads it. */
export const whileTableIsLocked = (
  { dataSource }: { readonly dataSource: DataSource },
  table: string,
  work: () => Promise<void>,
): Promise<void> =>
  dataSource.transaction(async (manager) => {
    await manager.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
    await work();
  });

/** The database refuses this name of a hauler, so that the call fails unexpectedly. */
export const refuseHauler = ({ dataSource }: WithRows, name: string): Promise<unknown> =>
  dataSource.query(`ALTER TABLE haulers ADD CONSTRAINT refused CHECK (name <> '${name}')`);

/** An action of a key and a call that are no more. */
export const addOldAction = ({ dataSource }: WithRows): Promise<unknown> =>
  dataSource.query(
    `INSERT INTO actions (id, actor, action, resource) VALUES (gen_random_uuid(), 'partner:hb_gone', 'callOfOld', 'thing:7')`,
  );

/** An exchange of a partner with its references, whose id says when it was. */
export const addExchange = (
  { dataSource }: WithRows,
  { id, haulerId, refs }: { readonly id: string; readonly haulerId: string; readonly refs: unknown },
): Promise<unknown> =>
  dataSource.query(
    `INSERT INTO exchanges (id, hauler_id, request_bytes, response_bytes, duration_ms, status, request_form, response_form,
       in_revision, direction, interface, method, path, request_headers, refs)
     VALUES ($1, $2, 1, 1, 1, 200, 0, 0, true, 'outbound', 'vision', 'GET', '/', '{}', $3)`,
    [id, haulerId, refs],
  );

/** So many pushes of a hauler at once. */
export const addExchanges = ({ dataSource }: WithRows, haulerId: string, count: number): Promise<unknown> =>
  dataSource.query(
    `INSERT INTO exchanges (id, hauler_id, request_bytes, response_bytes, duration_ms, status, request_form, response_form,
       in_revision, direction, interface, method, path, request_headers)
     SELECT uuidv7(), $1, 0, 0, 0, 200, 0, 0, false, 'inbound', 'scale', 'POST', '/', '{}' FROM generate_series(1, $2::int)`,
    [haulerId, count],
  );

/** As when the days of all exchanges were dropped. */
export const deleteExchanges = ({ dataSource }: WithRows): Promise<unknown> =>
  dataSource.query('DELETE FROM exchanges');

export async function partitionsOf({ dataSource }: WithRows, table: string): Promise<string[]> {
  const sql = 'SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = $1::regclass ORDER BY 1';
  return (await dataSource.query<{ name: string }[]>(sql, [table])).map(({ name }) => name);
}

/** A run that has ended so. */
export const addSyncRun = (
  { dataSource }: WithRows,
  haulerId: string,
  connectionId: string,
  status: string,
): Promise<unknown> =>
  dataSource.query(
    `INSERT INTO sync_runs (hauler_id, id, connection_id, status, finished_at, counts, error)
     VALUES ($1, gen_random_uuid(), $2, $3, now(), $4, CASE WHEN $3 = 'failed' THEN 'no' END)`,
    [haulerId, connectionId, status, NO_COUNTS],
  );

/** An enabled connection that is not synchronised by itself. */
export const enableWithoutRuns = ({ dataSource }: WithRows, connectionId: string): Promise<unknown> =>
  dataSource.query('UPDATE connections SET enabled = true, due_at = NULL WHERE id = $1', [connectionId]);

const COMMIT_LOCK = 4711;

/** Commits of this table wait until the work has ended; `waiting` says how many do. */
export async function whileCommitsWait<T>(
  dataSource: DataSource,
  table: HostedTable,
  work: (waiting: () => Promise<number>) => Promise<T>,
): Promise<T> {
  await dataSource.query(`
    CREATE FUNCTION wait_${table}() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_advisory_xact_lock_shared(${COMMIT_LOCK}); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER wait_commit AFTER INSERT ON ${table} DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION wait_${table}()`);
  return dataSource.transaction(async (manager) => {
    await manager.query('SELECT pg_advisory_xact_lock($1)', [COMMIT_LOCK]);
    return work(() => waitingSessions(manager));
  });
}
