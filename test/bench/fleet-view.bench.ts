import { createPartition } from '../../src/database/partitions.repository.js';
import { PARTITIONED, partitionOf } from '../../src/database/partitions.rules.js';
import { type BenchDatabase, startDatabase } from './database.js';
import { processorMs, type Service, startService } from './processes.js';
import { report, type Row } from './report.js';
import { median, percentile } from './statistics.js';

const TRUCKS = 1_000;
const CONNECTIONS = 10;
const DAY_MS = 86_400_000;
const VIEWS = 30;
const LISTED_STATEMENTS = 6;

/**
 * The view of a fleet of 1,000 trucks with four cameras over 31 days: 1.46 million sums by day of a year; the recordings of yesterday (four
 * hours of chunks of a minute), one of each camera for each ten days before, and 31,000 failed or expired ones of the month. A tenth of the
 * trucks rests at weekends, so that days have no sums. Argument: days (365).
 */
export async function run([days = '365']: readonly string[]) {
  const database = await startDatabase({ countsStatements: true });
  const service = await startService(database, { SIDES: 'platform' });
  for (let i = 0; i < CONNECTIONS; i++) {
    const { id: haulerId } = await service.admin<{ id: string }>('POST', '/haulers', { name: `Fleet ${i}` });
    const partner = {
      interface: 'vision',
      baseUrl: 'https://partner.example',
      apiKey: 'bench',
      customerId: 'fleet',
      enabled: false,
    };
    await service.admin('POST', '/connections', { haulerId, ...partner });
  }
  await seed(database, Number(days));
  report('fleet-view', [
    ['view of 1,000 trucks', 'median ms', '95 % ms', 'slowest', 'processor ms', 'blocks'],
    await viewOf(database, service, '31 days, 20 trucks a page', 31, 'pageSize=20'),
    await viewOf(database, service, '31 days, 100 trucks a page', 31, 'pageSize=100'),
    await viewOf(database, service, '31 days, Chicago', 31, 'pageSize=20&zone=America/Chicago', 5),
    await viewOf(database, service, '7 days, 20 trucks a page', 7, 'pageSize=20'),
  ]);
  await service.stop();
}

const STORED =
  'array_fill(0::bigint, ARRAY[8]) || array_fill(3600000::bigint, ARRAY[4]) || array_fill(0::bigint, ARRAY[84])';

async function seed({ client }: BenchDatabase, days: number): Promise<void> {
  const querying = { query: async <T>(sql: string, values: unknown[]) => (await client.query(sql, values)).rows as T };
  const now = Date.now();
  for (let at = now - (days + 1) * DAY_MS; at < now; at += 27 * DAY_MS) {
    const partition = partitionOf(PARTITIONED.recordings, at, now);
    await client.query('BEGIN');
    if (partition !== undefined) await createPartition(querying, PARTITIONED.recordings, partition);
    await client.query('COMMIT');
  }
  await client.query("SET synchronous_commit = off; SET timezone = 'UTC'");
  const cameras = `generate_series(0, ${TRUCKS - 1}) AS truck, unnest(ARRAY['front', 'rear', 'left', 'right']) AS camera,
    (SELECT *, row_number() OVER (ORDER BY id) - 1 AS place FROM connections) AS c`;
  await client.query(
    `INSERT INTO coverage_days (hauler_id, connection_id, truck_id, camera_id, day, is_shared, milliseconds)
     SELECT c.hauler_id, c.id, 'TRUCK-' || truck, camera, on_day, false, ${STORED}
     FROM ${cameras}, LATERAL (SELECT now()::date - n AS on_day FROM generate_series(1, ${days}) AS n) AS day
     WHERE c.place = truck % ${CONNECTIONS} AND NOT (truck % 10 = 0 AND extract(isodow FROM on_day) > 5)`,
  );
  const recordings = async (times: string, length: string, state: string) => {
    await client.query(
      `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
         start_time, end_time, duration_seconds, status, fetch_by, size_bytes, sha256, fetch_ms, stored_at, created_at, updated_at)
       SELECT c.hauler_id, gen_random_uuid(), c.id, 'continuous', 'old', c.customer_id, 'TRUCK-' || truck, camera,
         at, at + interval '${length}', 60, state, at, 10240, repeat('5', 64), 5, CASE state WHEN 'stored' THEN at END, at, at
       FROM ${cameras}, LATERAL ${times} AS times (at), LATERAL (SELECT ${state} AS state) AS ended WHERE c.place = truck % ${CONNECTIONS}
         AND NOT (truck % 10 = 0 AND extract(isodow FROM at) > 5)`,
    );
  };
  const today = "date_trunc('day', now(), 'UTC')";
  await recordings(
    `generate_series(${today} - interval '16 hours', ${today} - interval '12 hours 1 minute', interval '1 minute')`,
    '1 minute',
    `'stored'`,
  );
  const before = `generate_series(${today} - interval '${days - 1} days' + interval '8 hours', ${today} - interval '2 days', interval '10 days')`;
  await recordings(before, '1 hour', `'stored'`);
  const lost = `(SELECT ${today} - n * interval '1 day' + interval '9 hours' + truck * interval '1 second' FROM generate_series(2, 31) AS n WHERE (truck + n) % 4 = 0)`;
  await recordings(lost, '1 minute', `CASE truck % 2 WHEN 0 THEN 'failed' ELSE 'expired' END`);
  await client.query('VACUUM (ANALYZE) recordings');
  await client.query('VACUUM (ANALYZE) coverage_days');
  const { rows } = await client.query<{ rows: string; days: string }>(
    'SELECT (SELECT count(*) FROM recordings) AS rows, (SELECT count(*) FROM coverage_days) AS days',
  );
  console.log(
    `seeded ${rows[0]?.rows} recordings and ${rows[0]?.days} sums in ${Math.round((Date.now() - now) / 1_000)} s`,
  );
}

async function viewOf(
  { client, pid }: BenchDatabase,
  service: Service,
  title: string,
  days: number,
  page: string,
  hours = 0,
): Promise<Row> {
  const to = Math.floor(Date.now() / DAY_MS) * DAY_MS + hours * 3_600_000;
  const range = `from=${new Date(to - days * DAY_MS).toISOString()}&to=${new Date(to).toISOString()}`;
  const times: number[] = [];
  let before = 0;
  for (let i = 0; i <= VIEWS; i++) {
    if (i === 1) {
      await client.query('SELECT pg_stat_statements_reset()');
      before = processorMs(service.pid) + processorMs(pid);
    }
    const begun = performance.now();
    const { pagination } = await service.admin<{ pagination: { totalItems: number } }>(
      'GET',
      `/coverage/fleet?${range}&${page}`,
    );
    if (pagination.totalItems < TRUCKS) throw new Error(`the view has ${pagination.totalItems} trucks`);
    // The first one fills the caches.
    if (i > 0) times.push(performance.now() - begun);
  }
  const used = processorMs(service.pid) + processorMs(pid) - before;
  const { rows } = await client.query<{ query: string; calls: string; ms: number; planned: number; blocks: number }>(
    `SELECT left(regexp_replace(query, '\\s+', ' ', 'g'), 90) AS query, calls, mean_exec_time AS ms, mean_plan_time AS planned,
       (shared_blks_hit + shared_blks_read)::float8 / calls AS blocks
     FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND (query LIKE '%coverage_days%' OR query LIKE '%recordings%') ORDER BY calls * mean_exec_time DESC LIMIT ${LISTED_STATEMENTS}`,
  );
  console.log(`${title}: ms and blocks of a statement, and calls`);
  for (const { query, calls, ms, planned, blocks } of rows)
    console.log(
      `${ms.toFixed(1).padStart(7)} ${planned.toFixed(1).padStart(6)} ${blocks.toFixed(0).padStart(7)} ${calls.padStart(4)}  ${query}`,
    );
  const read = rows.reduce((sum, { blocks, calls }) => sum + blocks * Number(calls), 0);
  return [title, median(times), percentile(times, 0.95), Math.max(...times), used / VIEWS, Math.round(read / VIEWS)];
}
