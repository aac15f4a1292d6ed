import { setTimeout as delay } from 'node:timers/promises';
import { type BenchDatabase, startDatabase } from './database.js';
import { peakRssMb, processorMs, type Service, startPeer, startService } from './processes.js';
import { report, type Row } from './report.js';

const TRUCKS = 1_000;
const FILE_BYTES = 10_240;
const WARM_UP_MS = 3_000;
const IDLE_MS = 20_000;
/** Listed at first: four chunks of each truck for each minute. */
const BACKLOG_MS = 600_000;
const FEW_CONNECTIONS = 10;
const FEW_RECORDINGS = 10_000;
const IDLE_INSTANCES = 5;
const AT_ONCE = 10;
const ENV = { SIDES: 'platform', OUTBOUND_ALLOW_PRIVATE: 'true' };

interface Case {
  readonly title: string;
  readonly connections: number;
  readonly storedBefore: number;
  readonly instances: number;
}

interface Snapshot {
  readonly at: number;
  readonly chunks: number;
  readonly commits: number;
  readonly serviceMs: number;
  readonly databaseMs: number;
  readonly peakMb: number;
}

/**
 * A partner with 1,000 trucks of four cameras lists chunks of 10 KB faster than they are downloaded. Measured are the
 * chunks stored per second and their cost, with few and many recordings stored, with few and many connections, and with
 * three instances; then the cost of five idle instances. Arguments: seconds of a measurement (20), many connections
 * (5000), many recordings (5000000), the number of the only part to run (1 to 5).
 */
export async function run([
  seconds = '20',
  connections = '5000',
  recordings = '5000000',
  only,
]: readonly string[]): Promise<void> {
  const isWanted = (part: number) => only === undefined || Number(only) === part;
  const few = { connections: FEW_CONNECTIONS, storedBefore: FEW_RECORDINGS, instances: 1 };
  const cases: Case[] = [
    { ...few, title: `${FEW_CONNECTIONS} connections, ${FEW_RECORDINGS} stored` },
    { ...few, title: `${connections} connections`, connections: Number(connections) },
    { ...few, title: `${recordings} stored`, storedBefore: Number(recordings) },
    { ...few, title: 'three instances', instances: 3 },
  ];
  const rows: Row[] = [['case', 'chunks/s', 'service µs', 'database µs', 'commits', 'peak RSS MB', 'fetched twice']];
  for (const [i, one] of cases.entries()) if (isWanted(i + 1)) rows.push(await measure(one, Number(seconds)));
  if (rows.length > 1) report(only === undefined ? 'fleet' : `fleet-${only}`, rows);
  if (isWanted(cases.length + 1)) {
    const idle = await measureIdle(Number(connections));
    report('fleet-idle', [['idle', 'share of a core', 'of it the database'], idle]);
  }
}

async function measure({ title, connections, storedBefore, instances }: Case, seconds: number): Promise<Row> {
  const database = await startDatabase();
  const { url } = await startPeer('fleet.mjs', String(FILE_BYTES));
  const services: Service[] = [];
  for (let i = 0; i < instances; i++) services.push(await startService(database, ENV));
  await addConnections(services[0]!, url, connections);
  await addRecordings(database, storedBefore);
  await follow(services[0]!, database);
  await untilListed(database);
  await delay(WARM_UP_MS);
  const before = await look(database, services);
  await delay(seconds * 1_000);
  const after = await look(database, services);
  const chunks = after.chunks - before.chunks;
  for (const service of services) await service.stop();
  const { repeated } = (await (await fetch(`${url}/requests`)).json()) as { repeated: number };
  if (chunks === 0) throw new Error(`${title}: nothing was stored`);
  const perChunk = (figure: 'serviceMs' | 'databaseMs') => ((after[figure] - before[figure]) * 1_000) / chunks;
  return [
    title,
    (chunks * 1_000) / (after.at - before.at),
    perChunk('serviceMs'),
    perChunk('databaseMs'),
    (after.commits - before.commits) / chunks,
    after.peakMb,
    repeated,
  ];
}

async function look(database: BenchDatabase, services: readonly Service[]): Promise<Snapshot> {
  const { rows } = await database.client.query<{ chunks: number; commits: string }>(
    `SELECT (SELECT count(*)::int FROM recordings WHERE status = 'stored' AND stored_at > now() - interval '1 hour') AS chunks,
       (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()) AS commits`,
  );
  const [row] = rows;
  return {
    at: performance.now(),
    chunks: row?.chunks ?? 0,
    commits: Number(row?.commits),
    serviceMs: services.reduce((sum, { pid }) => sum + processorMs(pid), 0),
    databaseMs: processorMs(database.pid),
    peakMb: Math.round(Math.max(...services.map(({ pid }) => peakRssMb(pid)))),
  };
}

/** Through the API, because a stored key is sealed for its own connection. */
async function addConnections(service: Service, baseUrl: string, count: number): Promise<void> {
  const { id: haulerId } = await service.admin<{ id: string }>('POST', '/haulers', { name: 'Fleet' });
  const vision = { haulerId, interface: 'vision', baseUrl, apiKey: 'k', customerId: 'fleet' };
  await inTurns(count, () => service.admin('POST', '/connections', vision));
}

/**
 * Chunks of a year ago of the first connection, one per minute of each of 4,000 cameras. Only their rows exist. Indexes
 * are built after the rows, which takes a fifth of the time.
 */
async function addRecordings({ client }: BenchDatabase, count: number): Promise<void> {
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `SELECT indexname AS name, indexdef AS definition FROM pg_indexes
     WHERE tablename = 'recordings' AND indexname <> 'recordings_pkey'`,
  );
  await client.query("SET maintenance_work_mem = '512MB'");
  await client.query(`DROP INDEX ${indexes.map(({ name }) => name).join(', ')}`);
  await client.query(
    `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
       start_time, end_time, duration_seconds, status, fetch_by, size_bytes, sha256, stored_at, created_at,
       updated_at)
     SELECT c.hauler_id, ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, c.id, 'continuous', 'old-' || n,
       c.customer_id, 'TRUCK-' || n / 4 % ${TRUCKS}, (ARRAY['front', 'rear', 'left', 'right'])[n % 4 + 1], at,
       at + interval '1 minute', 60, 'stored', at, 10240, repeat('5', 64), at, at, at
     FROM (SELECT hauler_id, id, customer_id FROM connections ORDER BY id LIMIT 1) AS c, generate_series(1, $1) AS n,
       LATERAL (SELECT date_trunc('minute', now()) - interval '1 year' + n / ${4 * TRUCKS} * interval '1 minute' AS at) AS times`,
    [count],
  );
  for (const { definition } of indexes) await client.query(definition.replace(' ON ONLY ', ' ON '));
  await client.query('VACUUM (ANALYZE) recordings');
}

/** The trucks, spread over the connections. */
async function follow(service: Service, { client }: BenchDatabase): Promise<void> {
  const { rows } = await client.query<{ id: string }>('SELECT id FROM connections ORDER BY id');
  const startTime = new Date(Date.now() - BACKLOG_MS).toISOString();
  await inTurns(TRUCKS, (truck) => {
    const connectionId = rows[truck % rows.length]?.id;
    return service.admin('POST', '/video-subscriptions', { connectionId, truckId: `TRUCK-${truck}`, startTime });
  });
}

async function inTurns(count: number, work: (i: number) => Promise<unknown>): Promise<void> {
  for (let done = 0; done < count; done += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - done) }, (_, i) => work(done + i)));
  }
}

/** The first reading of every subscription is a burst that would be measured with the downloads. */
async function untilListed({ client }: BenchDatabase): Promise<void> {
  for (;;) {
    const { rows } = await client.query('SELECT FROM video_subscriptions WHERE last_read_at IS NULL LIMIT 1');
    if (rows.length === 0) return;
    await delay(500);
  }
}

async function measureIdle(connections: number): Promise<Row> {
  const database = await startDatabase();
  const { url } = await startPeer('fleet.mjs', String(FILE_BYTES));
  const services: Service[] = [];
  for (let i = 0; i < IDLE_INSTANCES; i++) services.push(await startService(database, ENV));
  await addConnections(services[0]!, url, connections);
  await delay(WARM_UP_MS);
  const before = await look(database, services);
  await delay(IDLE_MS);
  const after = await look(database, services);
  for (const service of services) await service.stop();
  const ms = after.at - before.at;
  const databaseMs = after.databaseMs - before.databaseMs;
  return [
    `${IDLE_INSTANCES} instances, ${connections} connections`,
    (after.serviceMs - before.serviceMs + databaseMs) / ms,
    databaseMs / ms,
  ];
}
