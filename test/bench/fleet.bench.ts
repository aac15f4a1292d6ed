import { setTimeout as delay } from 'node:timers/promises';
import { type BenchDatabase, startDatabase } from './database.js';
import { peakRssMb, processorMs, type Service, startPeer, startService } from './processes.js';
import { report, type Row } from './report.js';

const TRUCKS = 1_000;
const FILE_BYTES = 10_240;
const WARM_UP_MS = 3_000;
const IDLE_MS = 20_000;
/** The initial list: four chunks of each truck for each minute. */
const BACKLOG_MS = 600_000;
const IDLE_INSTANCES = 5;
const AT_ONCE = 10;
const ENV = { SIDES: 'platform', OUTBOUND_ALLOW_PRIVATE: 'true' };

interface Case {
  readonly title: string;
  readonly connections: number;
  readonly storedBefore: number;
  readonly instances: number;
}

/**
 * A partner with 1,000 trucks of four cameras lists chunks of 10 KB faster than they are downloaded. Measured are the
 * chunks stored per second and their cost, with few and many recordings stored, with few and many connections, and with
 * three instances; then the cost of five idle instances. Arguments: seconds of a measurement (20), many connections
 * (5000), many recordings (5000000), the number of the only part to run (1 to 5).
 */
export async function run([seconds = '20', connections = '5000', recordings = '5000000', only]: readonly string[]) {
  const isWanted = (part: number) => only === undefined || Number(only) === part;
  const cases: Case[] = [
    { title: '10 connections', connections: 10, storedBefore: 10_000, instances: 1 },
    { title: `${connections} connections`, connections: Number(connections), storedBefore: 10_000, instances: 1 },
    { title: `${recordings} recordings`, connections: 10, storedBefore: Number(recordings), instances: 1 },
    { title: 'three instances', connections: 10, storedBefore: 10_000, instances: 3 },
  ];
  const rows: Row[] = [
    ['case', 'chunks/s', 'service µs', 'database µs', 'commits per chunk', 'peak RSS MB', 'fetched twice'],
  ];
  for (const [i, one] of cases.entries()) if (isWanted(i + 1)) rows.push(await measure(one, Number(seconds)));
  if (rows.length > 1) report('fleet', rows);
  if (isWanted(cases.length + 1)) {
    report('fleet-idle', [['idle', 'share of a core'], await measureIdle(Number(connections))]);
  }
}

async function measure({ title, connections, storedBefore, instances }: Case, seconds: number): Promise<Row> {
  const database = await startDatabase();
  const { url } = await startPeer('fleet.mjs', String(FILE_BYTES));
  const services: Service[] = [];
  for (let i = 0; i < instances; i++) services.push(await startService(database, ENV));
  await addConnections(services[0], url, connections);
  await addStored(database, storedBefore);
  await follow(services[0], database);
  await untilListed(database);
  await delay(WARM_UP_MS);
  const before = await look(database, services);
  await delay(seconds * 1_000);
  const after = await look(database, services);
  for (const service of services) await service.stop();
  const { repeated } = (await (await fetch(`${url}/requests`)).json()) as { repeated: number };
  const chunks = after.chunks - before.chunks;
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

async function look(database: BenchDatabase, services: readonly Service[]) {
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

/** Through the API, since a stored key opens only for its own connection. */
async function addConnections(service: Service | undefined, baseUrl: string, count: number): Promise<void> {
  const { id: haulerId } = await admin<{ id: string }>(service, '/haulers', { name: 'Fleet' });
  const vision = { haulerId, interface: 'vision', baseUrl, apiKey: 'k', customerId: 'fleet' };
  for (let added = 0; added < count; added += AT_ONCE) {
    const share = Array.from({ length: Math.min(AT_ONCE, count - added) }, () =>
      admin(service, '/connections', vision),
    );
    await Promise.all(share);
  }
}

/** Recordings of a year ago, stored and deleted by retention, so that no file has to exist. */
async function addStored({ client }: BenchDatabase, count: number) {
  await client.query(
    `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
       start_time, end_time, duration_seconds, status, fetch_by, stored_at, created_at, updated_at)
     SELECT c.hauler_id, gen_random_uuid(), c.id, 'continuous', 'old-' || n, c.customer_id, 'OLD-' || n % 4000, 'front',
       at, at + interval '1 minute', 60, 'stored', at, at, at, at
     FROM (SELECT hauler_id, id, customer_id FROM connections LIMIT 1) AS c, generate_series(1, $1) AS n,
       LATERAL (SELECT now() - interval '1 year' + n / 4000 * interval '1 minute' AS at) AS times`,
    [count],
  );
  await client.query('VACUUM ANALYZE recordings');
}

/** The trucks, spread over the connections. */
async function follow(service: Service | undefined, { client }: BenchDatabase) {
  const { rows } = await client.query<{ id: string }>('SELECT id FROM connections ORDER BY id');
  const startTime = new Date(Date.now() - BACKLOG_MS).toISOString();
  for (let truck = 0; truck < TRUCKS; truck++) {
    const connectionId = rows[truck % rows.length]?.id;
    await admin(service, '/video-subscriptions', { connectionId, truckId: `TRUCK-${truck}`, startTime });
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
  await addConnections(services[0], url, connections);
  await delay(WARM_UP_MS);
  const before = await look(database, services);
  await delay(IDLE_MS);
  const after = await look(database, services);
  for (const service of services) await service.stop();
  const spent = after.serviceMs + after.databaseMs - before.serviceMs - before.databaseMs;
  return [`${IDLE_INSTANCES} instances, ${connections} connections`, spent / (after.at - before.at)];
}

async function admin<T>(service: Service | undefined, path: string, body: object): Promise<T> {
  const response = await fetch(`${service?.url}/admin/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service?.adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}
