import { createHash } from 'node:crypto';
import { uuidv7 } from '../../src/database/uuid.js';
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

type Rows = Pick<TestApp, 'dataSource'>;

/** Stored recordings of a minute each, one truck after the other, from `startTime` on. Returns their ids. */
export async function insertStoredRecordings(
  { dataSource }: Rows,
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
  return ids;
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
export async function countByTruck({ dataSource }: Rows): Promise<string[]> {
  const rows = await dataSource.query<{ line: string }[]>(
    `SELECT concat_ws(' ', truck_id, status, count(*)) AS line FROM recordings GROUP BY truck_id, status ORDER BY 1`,
  );
  return rows.map(({ line }) => line);
}

/** Delivered events about recordings. */
export async function insertDeliveries({ dataSource }: Rows, haulerId: string, recordingIds: string[]): Promise<void> {
  await dataSource.query(
    `INSERT INTO webhook_deliveries (id, endpoint_id, hauler_id, topic, data, status, due_at)
     SELECT gen_random_uuid(), gen_random_uuid(), $1, 'recording.failed', json_build_object('recordingId', id), 'delivered', NULL
     FROM unnest($2::uuid[]) AS id`,
    [haulerId, recordingIds],
  );
}

/** Sets the retention without starting it, as the admin API would. */
export async function setRetentionDays({ dataSource }: Rows, haulerId: string, days: number): Promise<void> {
  await dataSource.query('UPDATE hauler_retention SET continuous_days = $2 WHERE hauler_id = $1', [haulerId, days]);
}

/** The server ends a transaction that is idle for 10 s (`idle_in_transaction_session_timeout`). */
const STAY = 'SET LOCAL idle_in_transaction_session_timeout = 0';

/** Locks the rows of a table that have this value, until the returned function is called. */
export async function holdRows(
  { dataSource }: Rows,
  table: string,
  column: string,
  value: string,
): Promise<() => Promise<void>> {
  const runner = dataSource.createQueryRunner();
  await runner.startTransaction();
  await runner.query(STAY);
  await runner.query(`SELECT FROM ${table} WHERE ${column} = $1 FOR UPDATE`, [value]);
  return async () => {
    await runner.rollbackTransaction();
    await runner.release();
  };
}

/** Locks a whole table in a mode of PostgreSQL, until the returned function is called. */
export async function holdTable(
  { dataSource }: Rows,
  table: string,
  mode = 'ACCESS EXCLUSIVE',
): Promise<() => Promise<void>> {
  const runner = dataSource.createQueryRunner();
  await runner.startTransaction();
  await runner.query(STAY);
  await runner.query(`LOCK TABLE ${table} IN ${mode} MODE`);
  return async () => {
    await runner.rollbackTransaction();
    await runner.release();
  };
}

/** The rows of a table, which may be followed by a condition, in the order of their first column. */
export const rowsOf = <Row = unknown>({ dataSource }: Rows, table: string, columns = '*'): Promise<Row[]> =>
  dataSource.query<Row[]>(`SELECT ${columns} FROM ${table} ORDER BY 1`);

/** The rows on which an instance works, by table and id. */
export async function rowsInWork({ dataSource }: Rows): Promise<string[]> {
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

/** How many lanes are owned for longer than so many milliseconds from now on. */
export async function lanesOwnedLongerThan({ dataSource }: Rows, milliseconds: number): Promise<number> {
  const rows = await dataSource.query<unknown[]>("SELECT FROM lanes WHERE owned_until > now() + $1 * interval '1 ms'", [
    milliseconds,
  ]);
  return rows.length;
}

/** Makes the database refuse tickets of this number, by a rule that the service does not know, until the returned call. */
export async function refuseTicket({ dataSource }: Rows, number: string): Promise<() => Promise<void>> {
  await dataSource.query(`
    CREATE FUNCTION refuse_one() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF NEW.inbound_number = '${number}' THEN RAISE EXCEPTION 'refused inside'; END IF; RETURN NEW; END $$;
    CREATE TRIGGER refuse_one BEFORE INSERT OR UPDATE ON tickets FOR EACH ROW EXECUTE FUNCTION refuse_one()`);
  return async () => {
    await dataSource.query('DROP FUNCTION refuse_one CASCADE');
  };
}

export const insertHaulers = ({ dataSource }: Rows, count: number): Promise<unknown> =>
  dataSource.query(
    `INSERT INTO haulers (id, name, created_at)
     SELECT gen_random_uuid(), 'Hauler ' || n, now() FROM generate_series(1, $1::int) AS n`,
    [count],
  );
