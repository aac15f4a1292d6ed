import { type Partition, type PartitionedTable, partitionNamed, plannedPartitions } from './partitions.rules.js';
import { type Sql } from './sql.js';

/** An arbitrary number: instances create partitions one after the other. */
const LOCK = 4_867_391_203;

/** A reader of the table must not stop the writers that wait behind this for long. */
const LOCK_TIMEOUT = "SET LOCAL lock_timeout = '2s'";

export async function partitionsOf(database: Sql, { name }: PartitionedTable): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = $1::text::regclass ORDER BY c.relname`,
    [name],
  );
  return rows.map((row) => row.name);
}

/** How many partitions of a table exist after the current one, of those that are planned. */
export async function partitionsAhead(database: Sql, table: PartitionedTable, now: number): Promise<number> {
  const names = new Set(await partitionsOf(database, table));
  const [, ...planned] = plannedPartitions(table, now);
  return planned.filter(({ name }) => names.has(name)).length;
}

/** Counts the rows of the partition of the rest, up to a limit. */
export async function rowsInRest(database: Sql, rest: string, limit: number): Promise<number> {
  const row = await database.only<{ rows: number }>(
    `SELECT count(*)::int AS rows FROM (SELECT FROM ${rest} LIMIT $1) AS some`,
    [limit],
  );
  return row.rows;
}

/**
 * Creates a partition unless it exists, and moves the rows into it that the partition of the rest has; in a transaction of its own.
 * Attaching, unlike `CREATE TABLE … PARTITION OF`, lets others go on with reading and writing the table; only the partition of the rest
 * is locked.
 */
export async function createPartition(database: Sql, table: PartitionedTable, partition: Partition): Promise<void> {
  const { name, column, rest } = table;
  await database.query(LOCK_TIMEOUT, []);
  await database.query(`SELECT pg_advisory_xact_lock(${LOCK})`, []);
  if (await partitionExists(database, partition.name)) return;
  await database.query(
    `CREATE TABLE ${partition.name} (LIKE ${name} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)`,
    [],
  );
  if (rest !== undefined) {
    const found = await database.query<unknown>(
      `SELECT FROM ${rest} WHERE ${column} >= $1 AND ${column} < $2 LIMIT 1`,
      [partition.from, partition.to],
    );
    // A statement that waited for the rest alone would not find the rows: it has chosen its partitions before.
    if (found.length > 0) await database.query(`LOCK TABLE ONLY ${name} IN ACCESS EXCLUSIVE MODE`, []);
    await database.query(`LOCK TABLE ${rest} IN ACCESS EXCLUSIVE MODE`, []);
    await database.query(
      `WITH moved AS (DELETE FROM ${rest} WHERE ${column} >= $1 AND ${column} < $2 RETURNING *)
       INSERT INTO ${partition.name} SELECT * FROM moved`,
      [partition.from, partition.to],
    );
  }
  // Bounds cannot be parameters; these are formatted dates and UUIDs.
  await database.query(
    `ALTER TABLE ${name} ATTACH PARTITION ${partition.name} FOR VALUES FROM ('${partition.from}') TO ('${partition.to}')`,
    [],
  );
}

export async function partitionExists(database: Sql, name: string): Promise<boolean> {
  const row = await database.only<{ exists: boolean }>('SELECT to_regclass($1::text) IS NOT NULL AS exists', [name]);
  return row.exists;
}

/** Drops a partition with its rows; everybody waits for the table until the end of the transaction. False if it was dropped before. */
export async function dropPartition(
  database: Sql,
  { name: table }: PartitionedTable,
  name: string,
  { onlyEmpty = false } = {},
): Promise<boolean> {
  await database.query(LOCK_TIMEOUT, []);
  await database.query(`SELECT pg_advisory_xact_lock(${LOCK})`, []);
  if (!(await partitionExists(database, name))) return false;
  // The order of PostgreSQL itself: a statement that has the table and waits for the partition would wait for ever.
  await database.query(`LOCK TABLE ONLY ${table} IN ACCESS EXCLUSIVE MODE`, []);
  if (onlyEmpty && !(await isEmpty(database, name))) return false;
  await database.query(`DROP TABLE ${name}`, []);
  return true;
}

export async function isEmpty(database: Sql, name: string): Promise<boolean> {
  return (await database.query<unknown>(`SELECT FROM ${name} LIMIT 1`, [])).length === 0;
}

/** The partitions of a table whose rows all are before a time, the oldest first. */
export async function partitionsBefore(database: Sql, table: PartitionedTable, time: number): Promise<Partition[]> {
  const names = await partitionsOf(database, table);
  return names.flatMap((name) => partitionNamed(table, name, time) ?? []);
}

/** The days or months (UTC) of the rows that the partition of the rest has, of a table that is divided by a time. */
export async function timesInRest(database: Sql, { column, rest, unit, type }: PartitionedTable): Promise<Date[]> {
  if (rest === undefined || type !== 'timestamptz') return [];
  const rows = await database.query<{ at: Date }>(
    `SELECT DISTINCT date_trunc('${unit}', ${column}, 'UTC') AS at FROM ${rest} WHERE isfinite(${column})`,
    [],
  );
  return rows.map(({ at }) => at);
}
