import { setTimeout as delay } from 'node:timers/promises';
import { createPartition } from '../../src/database/partitions.repository.js';
import { PARTITIONED, partitionOf } from '../../src/database/partitions.rules.js';
import { findStoredBefore } from '../../src/vision/recordings/retention.repository.js';
import type { BenchDatabase } from './database.js';
import { startDatabase } from './database.js';
import { processorMs, type Service, startPeer, startService } from './processes.js';
import { report, type Row } from './report.js';
import { median, percentile } from './statistics.js';

const TRUCKS = 1_000;
const DAY_MS = 86_400_000;
/** Hours of a day in which a truck drives; each is a chunk of each of two cameras. */
const HOURS = 4;
const ROUNDS = 4;
/** Of each round, with 40 chunks each: four cameras, ten minutes. */
const FOLLOWED = 50;
const BACKLOG_MS = 600_000;
const VIEWS = 20;
const WARM_UP_MS = 3_000;
const AT_ONCE = 10;
const FILE_BYTES = '10240';
const ENV = { SIDES: 'platform', OUTBOUND_ALLOW_PRIVATE: 'true' };

interface Prepared {
  readonly name: string;
  readonly database: BenchDatabase;
}

interface Side extends Prepared {
  readonly service: Service;
  readonly connections: readonly string[];
  chunks: number;
  serviceMs: number;
  databaseMs: number;
}

/**
 * A year of 1,000 trucks: 2.9 million recordings of an hour, with their sums by day. Of the same service over an empty database and over
 * the year, in turns: what it costs to list and to store a chunk. Then the view of the fleet over 31 days, and the plans of the queries
 * that the indexes are for.
 */
export async function measureYear(days: number, addConnections: AddConnections): Promise<void> {
  await measurePrepared(await prepareYear(days, addConnections));
}

type AddConnections = (service: Service, url: string) => Promise<void>;

/** The service does not run while the year is written without its indexes. */
export async function prepareYear(days: number, addConnections: AddConnections): Promise<Prepared[]> {
  const { url } = await startPeer('fleet.mjs', FILE_BYTES);
  const prepared: Prepared[] = [];
  for (const name of ['empty', 'year']) {
    const database = await startDatabase({ countsStatements: true });
    const service = await startService(database, ENV);
    await addConnections(service, url);
    await service.stop();
    if (name === 'year') await seedYear(database, days);
    prepared.push({ name, database });
  }
  return prepared;
}

/** `first`: the first truck that is followed. */
export async function measurePrepared(prepared: readonly Prepared[], first = 0): Promise<void> {
  const sides: Side[] = [];
  for (const { name, database } of prepared) {
    const { rows } = await database.client.query<{ id: string }>('SELECT id FROM connections ORDER BY id');
    const connections = rows.map(({ id }) => id);
    const service = await startService(database, ENV);
    sides.push({ name, database, service, connections, chunks: 0, serviceMs: 0, databaseMs: 0 });
    await database.client.query('SELECT pg_stat_statements_reset()');
  }
  await delay(WARM_UP_MS);
  for (let round = 0; round < ROUNDS; round++) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) await measureRound(side, first + round * FOLLOWED);
  }
  const statements = await Promise.all(sides.map((side) => statementsPerChunk(side)));
  const per = ({ chunks, serviceMs, databaseMs }: Side, i: number): readonly number[] => [
    ...[serviceMs, databaseMs, serviceMs + databaseMs].map((ms) => (ms * 1_000) / chunks),
    statements[i] ?? NaN,
  ];
  const [empty = [], year = []] = sides.map(per);
  report('fleet-year', [
    ['listed and stored', 'chunks', 'service µs', 'database µs', 'both µs', 'in statements µs'],
    ...sides.map((side, i): Row => [side.name, side.chunks, ...per(side, i)]),
    ['year ÷ empty', '', ...year.map((figure, i) => figure / (empty[i] ?? NaN))],
  ]);
  const full = sides.at(-1);
  if (full !== undefined) {
    report('fleet-view', [
      ['view of 1,000 trucks', 'median ms', '95 % ms', 'slowest'],
      await viewOf(full.service, '31 days', 31, 'pageSize=20'),
      await viewOf(full.service, '31 days, 100 trucks a page', 31, 'pageSize=100'),
      await viewOf(full.service, '7 days', 7, 'pageSize=20'),
    ]);
    await explain(full);
  }
  for (const { service } of sides) await service.stop();
}

/** What the statements about chunks took since the start, without other work of the service. */
async function statementsPerChunk({ name, database: { client }, chunks }: Side): Promise<number> {
  const { rows } = await client.query<{ query: string; calls: string; ms: number }>(
    `SELECT left(regexp_replace(query, '\\s+', ' ', 'g'), 110) AS query, calls, total_exec_time + total_plan_time AS ms
     FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND query NOT LIKE '%pg_stat_%' AND query NOT LIKE 'SELECT count(*)::int AS n FROM recordings%' ORDER BY ms DESC`,
  );
  console.log(`${name}: microseconds per chunk, and calls`);
  for (const { query, calls, ms } of rows.slice(0, 12))
    console.log(`${((ms * 1_000) / chunks).toFixed(0).padStart(6)} ${calls.padStart(6)}  ${query}`);
  return (rows.reduce((sum, { ms }) => sum + ms, 0) * 1_000) / chunks;
}

/** From the listing of new trucks until all their chunks are stored. */
async function measureRound(side: Side, first: number): Promise<void> {
  const { database, service, connections } = side;
  const begun = await countStored(database);
  const before = [processorMs(service.pid), processorMs(database.pid)] as const;
  const startTime = new Date(Date.now() - BACKLOG_MS).toISOString();
  for (let i = 0; i < FOLLOWED; i += AT_ONCE) {
    await Promise.all(
      Array.from({ length: AT_ONCE }, (_, j) => {
        const truck = first + i + j;
        const connectionId = connections[truck % connections.length];
        return service.admin('POST', '/video-subscriptions', { connectionId, truckId: `TRUCK-${truck}`, startTime });
      }),
    );
  }
  const wanted = begun + FOLLOWED * 4 * (BACKLOG_MS / 60_000);
  let stored = begun;
  while (stored < wanted) {
    await delay(250);
    stored = await countStored(database);
  }
  console.log(
    `${side.name}: ${stored - begun} chunks in ${Math.round((Date.now() - Date.parse(startTime) - BACKLOG_MS) / 1_000)} s`,
  );
  side.chunks += stored - begun;
  side.serviceMs += processorMs(service.pid) - before[0];
  side.databaseMs += processorMs(database.pid) - before[1];
}

/** Of the last hour alone, so that the year is not read. */
async function countStored({ client }: BenchDatabase): Promise<number> {
  const { rows } = await client.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM recordings WHERE status = 'stored' AND start_time > now() - interval '1 hour' AND duration_seconds = 60`,
  );
  return rows[0]?.n ?? 0;
}

/** The rows alone, before their indexes: that takes a fifth of the time. One of 97 failed, one expired, all others are stored. */
async function seedYear({ client }: BenchDatabase, days: number): Promise<void> {
  const querying = { query: async <T>(sql: string, values: unknown[]) => (await client.query(sql, values)).rows as T };
  const now = Date.now();
  for (let at = now - (days + 1) * DAY_MS; at < now; at += 27 * DAY_MS) {
    const partition = partitionOf(PARTITIONED.recordings, at, now);
    await client.query('BEGIN');
    if (partition !== undefined) await createPartition(querying, PARTITIONED.recordings, partition);
    await client.query('COMMIT');
  }
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `SELECT indexname AS name, indexdef AS definition FROM pg_indexes
     WHERE tablename = 'recordings' AND indexname <> 'recordings_pkey'`,
  );
  await client.query(
    "SET maintenance_work_mem = '512MB'; SET work_mem = '256MB'; SET synchronous_commit = off; SET timezone = 'UTC'",
  );
  await client.query(`DROP INDEX ${indexes.map(({ name }) => name).join(', ')}`);
  await client.query(
    `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
       start_time, end_time, duration_seconds, status, fetch_by, size_bytes, sha256, fetch_ms, stored_at, created_at, updated_at)
     SELECT c.hauler_id, ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, c.id, 'continuous', 'old-' || n, c.customer_id,
       'TRUCK-' || truck, camera, at, at + interval '1 hour', 3600, state, at, 10240, repeat('5', 64), 5,
       CASE state WHEN 'stored' THEN at END, at, at
     FROM generate_series(0, ${days - 1}) AS day, generate_series(0, ${HOURS - 1}) AS hour, generate_series(0, ${TRUCKS - 1}) AS truck,
       unnest(ARRAY['front', 'rear']) WITH ORDINALITY AS camera (camera, side),
       LATERAL (SELECT ((day * ${HOURS} + hour) * ${TRUCKS} + truck) * 2 + side AS n,
         date_trunc('day', now(), 'UTC') - (${days} - day) * interval '1 day' + (8 + hour) * interval '1 hour' AS at) AS chunk,
       LATERAL (SELECT CASE n % 97 WHEN 0 THEN 'failed' WHEN 1 THEN 'expired' ELSE 'stored' END AS state) AS ended,
       (SELECT *, row_number() OVER (ORDER BY id) - 1 AS place, count(*) OVER () AS places FROM connections) AS c
     WHERE c.place = truck % c.places`,
  );
  for (const { definition } of indexes) await client.query(definition.replace(' ON ONLY ', ' ON '));
  await client.query(
    `INSERT INTO coverage_days (hauler_id, connection_id, truck_id, camera_id, day, is_shared, milliseconds)
     SELECT hauler_id, connection_id, truck_id, camera_id, start_time::date, false,
       ARRAY(SELECT CASE WHEN slot = ANY (array_agg(CASE status WHEN 'stored' THEN 0 WHEN 'expired' THEN 48 ELSE 72 END
         + extract(hour FROM start_time)::int)) THEN 3600000 ELSE 0 END FROM generate_series(0, 95) AS slot ORDER BY slot)
     FROM recordings GROUP BY 1, 2, 3, 4, 5`,
  );
  await client.query('VACUUM (ANALYZE) recordings');
  await client.query('VACUUM (ANALYZE) coverage_days');
  const { rows } = await client.query<{ rows: string; days: string }>(
    'SELECT (SELECT count(*) FROM recordings) AS rows, (SELECT count(*) FROM coverage_days) AS days',
  );
  console.log(
    `seeded ${rows[0]?.rows} recordings and ${rows[0]?.days} sums by day in ${Math.round((Date.now() - now) / 1_000)} s`,
  );
}

async function viewOf(service: Service, title: string, days: number, page: string): Promise<Row> {
  const to = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const range = `from=${new Date(to - days * DAY_MS).toISOString()}&to=${new Date(to).toISOString()}`;
  const times: number[] = [];
  for (let i = 0; i <= VIEWS; i++) {
    const begun = performance.now();
    const { pagination } = await service.admin<{ pagination: { totalItems: number } }>(
      'GET',
      `/coverage/fleet?${range}&${page}`,
    );
    if (pagination.totalItems < TRUCKS) throw new Error(`the view has ${pagination.totalItems} trucks`);
    // The first one fills the caches.
    if (i > 0) times.push(performance.now() - begun);
  }
  return [title, median(times), percentile(times, 0.95), Math.max(...times)];
}

/** The statements that the five indexes are for. */
async function explain({ database: { client } }: Side): Promise<void> {
  const { rows } = await client.query<Record<'hauler' | 'connection' | 'id' | 'start', string>>(
    `SELECT hauler_id AS hauler, connection_id AS connection, id, start_time::text AS start FROM recordings
     WHERE start_time < now() - interval '20 days' LIMIT 1`,
  );
  const { hauler, connection, id, start } = rows[0] ?? { hauler: '', connection: '', id: '', start: '' };
  const show = async (title: string, sql: string, values: unknown[]) => {
    const { rows: lines } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN (ANALYZE, BUFFERS) ${sql}`, values);
    console.log(`\n${title}`);
    for (const line of lines) console.log(`  ${line['QUERY PLAN'].slice(0, 160)}`);
    return [];
  };
  await show(
    'recordings_pkey: the end of a download',
    'UPDATE recordings SET updated_at = updated_at WHERE hauler_id = $1 AND id = $2 AND start_time = $3',
    [hauler, id, start],
  );
  await show(
    'recordings_camera_key: whether a listed chunk is stored',
    `SELECT id FROM recordings WHERE hauler_id = $1 AND connection_id = $2 AND truck_id = 'TRUCK-0' AND camera_id = 'front'
       AND start_time = $3 AND part_id IS NULL`,
    [hauler, connection, start],
  );
  await show(
    'recordings_part_idx: the clips of a part',
    'SELECT id FROM recordings WHERE hauler_id = $1 AND part_id = $2',
    [hauler, id],
  );
  const querying = { query: <T>(sql: string, values: unknown[]) => show(RETENTION_TITLE, sql, values) as Promise<T> };
  await findStoredBefore(querying, new Date(Date.now() - 15 * DAY_MS), undefined, 1_000);
  await show(
    'recordings_due_idx: the due downloads of a connection',
    'SELECT id FROM recordings WHERE connection_id = $1 AND due_at <= now() ORDER BY fetch_by LIMIT 16',
    [connection],
  );
}

const RETENTION_TITLE = 'recordings_status_idx: the oldest stored files, for retention';
