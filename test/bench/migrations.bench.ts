import type { QueryRunner } from 'typeorm';
import { PartitionTicketRevisions1795610000000 } from '../../migrations/1795610000000-partition-ticket-revisions.js';
import { PartitionRecordings1795610001000 } from '../../migrations/1795610001000-partition-recordings.js';
import { SumCoverageByDay1795680000000 } from '../../migrations/1795680000000-sum-coverage-by-day.js';
import { type BenchDatabase, startDatabase } from './database.js';
import { report, type Row } from './report.js';

const MIGRATIONS = [
  ['ticket_revisions by month', 'ticket_revisions', new PartitionTicketRevisions1795610000000()],
  ['recordings by month', 'recordings', new PartitionRecordings1795610001000()],
  ['sums by day', 'coverage_days', new SumCoverageByDay1795680000000()],
] as const;

/** Of a year, in months alike; each recording is of an hour, of one of a hundred cameras. */
const RECORDINGS = `
  INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
    start_time, end_time, duration_seconds, status, fetch_by, size_bytes, sha256, fetch_ms, stored_at, created_at, updated_at)
  SELECT '00000000-0000-4000-8000-000000000001', gen_random_uuid(), '00000000-0000-4000-8000-000000000002', 'continuous', 'id-' || n,
    'customer', 'TRUCK-' || n % 100, 'camera ' || n / 876000, at, at + interval '1 hour', 3600, 'stored', at, 10240, repeat('5', 64), 5, at, at, at
  FROM generate_series(0, $1::int - 1) AS n, LATERAL (
    SELECT date_trunc('hour', now(), 'UTC') - interval '1 year' + n / 100 % 8760 * interval '1 hour' AS at) AS times`;

const REVISIONS = `
  INSERT INTO ticket_revisions (hauler_id, ticket_id, revision, received_at, result, body)
  SELECT '00000000-0000-4000-8000-000000000001', (substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 1, at,
    'created', jsonb_build_object('ticketNumber', n, 'truck', 'TRUCK-' || n % 100, 'note', repeat('x', 600))
  FROM generate_series(0, $1::int - 1) AS n, LATERAL (SELECT now() - n::float8 / $1 * interval '1 year' AS at) AS times,
    LATERAL (SELECT lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') AS hex) AS text`;

/**
 * The migrations that divide tables by month and sum coverage by day: seconds of each `down` and `up` on rows of a year, and whether rows,
 * indexes and columns are the same afterwards. Argument: rows of each table (1000000).
 */
export async function run([rows = '1000000']: readonly string[]): Promise<void> {
  const database = await startDatabase();
  const { client } = database;
  await client.query("SET timezone = 'UTC'");
  for (const sql of [RECORDINGS, REVISIONS]) await client.query(sql, [Number(rows)]);
  const runner = { query: (sql: string) => client.query(sql) } as unknown as QueryRunner;
  // The first time gives each table its partitions, and the sums.
  for (const [, , migration] of MIGRATIONS.toReversed()) await timed(database, () => migration.down(runner));
  for (const [, , migration] of MIGRATIONS) await timed(database, () => migration.up(runner));
  const before = await stateOf(database);
  const downs = new Map<string, number>();
  for (const [name, , migration] of MIGRATIONS.toReversed())
    downs.set(name, await timed(database, () => migration.down(runner)));
  const table: Row[] = [['migration', 'rows', 'up, s', 'down, s']];
  for (const [name, , migration] of MIGRATIONS)
    table.push([name, Number(rows), await timed(database, () => migration.up(runner)), downs.get(name) ?? NaN]);
  const after = await stateOf(database);
  report('migrations', table);
  console.log(before);
  if (JSON.stringify(after) !== JSON.stringify(before)) throw new Error(`another state: ${JSON.stringify(after)}`);
}

/** In one transaction, as at an upgrade. */
async function timed({ client }: BenchDatabase, work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await client.query('BEGIN');
  await work();
  await client.query('COMMIT');
  return (performance.now() - begun) / 1_000;
}

/** Rows and their contents, columns, indexes and partitions of each table. */
async function stateOf({ client }: BenchDatabase): Promise<object[]> {
  const states: object[] = [];
  for (const [, table] of MIGRATIONS) {
    const { rows } = await client.query<object>(
      `SELECT '${table}' AS table, count(*) AS rows, sum(hashtextextended(r::text, 0)) AS contents,
         (SELECT md5(string_agg(indexdef, ' ' ORDER BY indexdef)) FROM pg_indexes WHERE tablename LIKE '${table}%') AS indexes,
         (SELECT md5(string_agg(concat(attname, attnotnull, atttypid), ' ' ORDER BY attnum)) FROM pg_attribute
           WHERE attrelid = '${table}'::regclass AND attnum > 0) AS columns,
         (SELECT count(*) FROM pg_inherits WHERE inhparent = '${table}'::regclass) AS partitions FROM ${table} AS r`,
    );
    states.push(...rows);
  }
  return states;
}
