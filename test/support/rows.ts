import type { DataSource, EntityManager } from 'typeorm';
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

/** The catalog of a hauler as it is stored, with all times, to be compared with itself later. */
export async function catalogRows({ dataSource }: TestApp, haulerId: string): Promise<Record<string, unknown[]>> {
  const of = (table: string) =>
    dataSource.query<unknown[]>(`SELECT * FROM ${table} WHERE hauler_id = $1 ORDER BY external_id`, [haulerId]);
  return { sites: await of('sites'), kiosks: await of('kiosks'), materials: await of('materials') };
}

/** The number of sessions that wait for an advisory lock of this one. */
export async function waitingSessions(manager: EntityManager): Promise<number> {
  const [row] = await manager.query<[{ n: number }]>(
    `SELECT count(*)::int AS n FROM pg_locks ours JOIN pg_locks theirs USING (locktype, database, classid, objid)
     WHERE ours.pid = pg_backend_pid() AND ours.locktype = 'advisory' AND NOT theirs.granted`,
  );
  return row.n;
}

/** Ends the sessions that wait for an advisory lock, as a lost connection does. */
export const endWaitingSessions = ({ dataSource }: TestApp): Promise<unknown> =>
  dataSource.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = 'advisory'`,
  );

/**
 * Sites and kiosks can be written meanwhile, materials cannot: a run waits in the middle of its transaction. `isWaited` resolves
 * to whether one does.
 */
export async function whileMaterialsAreLocked(
  { dataSource }: TestApp,
  work: (isWaited: () => Promise<boolean>) => Promise<void>,
): Promise<void> {
  const isWaited = async () => {
    const rows = await dataSource.query<unknown[]>(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
       AND query LIKE '%INSERT INTO materials%'`,
    );
    return rows.length > 0;
  };
  await dataSource.transaction(async (manager) => {
    await manager.query('LOCK TABLE materials IN SHARE MODE');
    await work(isWaited);
  });
}

/** A run whose owner died so often; without a request, only a free lane starts it again. */
export async function interruptRun(
  { dataSource }: TestApp,
  connectionId: string,
  {
    attempts = 1,
    isRequested = false,
    isDue = true,
  }: { attempts?: number; isRequested?: boolean; isDue?: boolean } = {},
): Promise<void> {
  await dataSource.query(`UPDATE sync_runs SET status = 'running', attempts = $2 WHERE connection_id = $1`, [
    connectionId,
    attempts,
  ]);
  if (!isRequested)
    await dataSource.query('UPDATE connections SET run_requested_at = NULL WHERE id = $1', [connectionId]);
  if (!isDue) await dataSource.query('UPDATE connections SET due_at = NULL WHERE id = $1', [connectionId]);
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
