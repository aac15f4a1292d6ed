import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { OWNED_MS } from '../../src/work/lanes.repository.js';
import { type BuiltService, startService } from '../support/built-service.js';
import { CatalogFixture } from '../support/catalog.js';
import { eventually } from '../support/eventually.js';
import { reportFigures, seededRandom } from '../support/faults.js';
import { demoVideo } from '../support/reference-vision.js';
import { lanesOwnedLongerThan, rowsInWork, rowsOf } from '../support/rows.js';
import { sampleVideo } from '../support/sample-video.js';
import { after, json } from '../support/scripted-partner.js';
import { CONTINUOUS, element, inHours, lists, startVisionPartner } from '../support/scripted-vision.js';
import { siteData } from '../support/site-data.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { TEST_ADMIN_TOKEN, testServer } from '../support/test-run.js';
import { endLanes } from '../support/time.js';
import { Ledger } from './ledger.js';

const BEARER = { Authorization: `Bearer ${TEST_ADMIN_TOKEN}` };
const SITES = 'GET /scale-platform/v1/sites';

let database: TestDatabase;
let db: { dataSource: DataSource };
const running = new Set<BuiltService>();

async function start(dataDir?: string, env: Record<string, string> = {}): Promise<BuiltService> {
  const service = await startService({ databaseUrl: database.url, env, ...(dataDir === undefined ? {} : { dataDir }) });
  running.add(service);
  return service;
}

async function open(options: { migrated?: boolean } = {}): Promise<void> {
  database = await createTestDatabase(options);
  db = { dataSource: await database.connect(4) };
}

afterEach(async () => {
  for (const service of running) {
    service.child.kill('SIGCONT');
    await service.end('SIGKILL');
  }
  running.clear();
  await database.drop();
});

async function created<Body>(service: BuiltService, path: string, body: unknown): Promise<Body> {
  const reply = await service.admin<Body>('POST', path, body);
  if (reply.status >= 300) throw new Error(`${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body;
}

/** The rows with a file: id, SHA-256. */
const FILE_TABLES = ['reference_recordings', 'reference_clips', "recordings WHERE status = 'stored'"];

/** The ids of stored rows whose file is missing or has another SHA-256. */
async function incompleteFiles(dataDir: string): Promise<string[]> {
  const videos = join(dataDir, 'videos');
  const names = readdirSync(videos, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.mp4'));
  const files = new Map(names.map((name) => [name.split('/').at(-1)?.replace('.mp4', ''), join(videos, name)]));
  const sum = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');
  const rows = await Promise.all(
    FILE_TABLES.map((table) => rowsOf<{ id: string; sha256: string }>(db, table, 'id, sha256')),
  );
  return rows.flat().flatMap(({ id, sha256 }) => (sha256 === sum(files.get(id) ?? '/dev/null') ? [] : [id]));
}

const minute = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 60_000).toISOString();
const uploadPath = (n: number, cameraId: string) =>
  `/admin/v1/hosted/recordings?customerId=c&truckId=t&cameraId=${cameraId}&startTime=${minute(n)}&endTime=${minute(n + 1)}`;

/** A caller of each kind of write, on a hauler of their own. */
async function openLedgers(service: BuiltService, haulerId: string, siteConnectionId: string) {
  const order = { haulerId, interfaces: ['scale', 'account', 'vision'], allCustomers: true };
  const { key } = await created<{ key: string }>(service, '/api-keys', order);
  const catalog = new CatalogFixture(db.dataSource);
  const siteId = await catalog.site(haulerId);
  const materialId = await catalog.material(haulerId, { siteId });
  const platform = (idempotencyKey?: string): Record<string, string> => ({
    'PLATFORM-API-KEY': key,
    ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
  });
  const video = { ...BEARER, 'Content-Type': 'video/mp4' };
  // The source of the clips is stored before the first request for one.
  const body = new Uint8Array(demoVideo(0));
  expect((await fetch(service.url + uploadPath(0, 'rear'), { method: 'POST', headers: video, body })).status).toBe(201);
  return {
    tickets: new Ledger(
      (n) => ({
        ref: `T${n}`,
        path: '/platform-api/v1/tickets',
        headers: platform(n % 3 === 0 ? `T${n}` : undefined),
        body: {
          siteId,
          materials: [{ id: materialId, name: 'Debris', quantity: n, unitOfMeasure: 'Ton' }],
          // One in three has no flow: only its key prevents a second ticket (decision 22).
          ...(n % 3 === 0 ? {} : { inboundFlow: { ticketNumber: `T${n}`, updatedAt: '2026-01-31T08:30:00Z' } }),
          customFields: { ref: `T${n}` },
        },
      }),
      (reply) => reply['disposalTicketId'],
    ),
    accounts: new Ledger(
      (n) => ({
        ref: `A${n}`,
        path: '/platform-api/v1/accounts',
        headers: platform(n % 2 === 0 ? `A${n}` : undefined),
        body: { accountName: `A${n}` },
      }),
      // An account that was stored although its answer was lost is named by the 409.
      (reply: { accountId?: string; error?: { details?: { accountId?: string } } }) =>
        reply.accountId ?? reply.error?.details?.accountId,
    ),
    uploads: new Ledger(
      (n) => ({ ref: `U${n}`, path: uploadPath(n, 'front'), headers: video, body: demoVideo(0) }),
      (reply: { id?: string; error?: { code: string } }) =>
        reply.id ?? (reply.error?.code === 'CONFLICT' ? 'stored' : undefined),
    ),
    clips: new Ledger(
      (n) => ({
        ref: `C${n}`,
        path: '/video-platform/v1/videos/requests',
        headers: { 'API-KEY': key },
        body: { customerId: 'c', truckId: 't', cameraId: 'rear', startTime: minute(0), endTime: minute(1) },
      }),
      (reply) => reply['requestId'],
    ),
    runs: new Ledger(
      (n) => ({ ref: `R${n}`, path: `/admin/v1/connections/${siteConnectionId}/sync`, headers: BEARER, body: {} }),
      (reply) => reply['runId'],
    ),
  };
}

type Ledgers = Awaited<ReturnType<typeof openLedgers>>;
const CALLERS = { tickets: 8, accounts: 3, uploads: 1, clips: 1, runs: 1 } as const;
const KINDS = Object.keys(CALLERS) as (keyof Ledgers)[];

/** For each kind, where its elements are, and by which reference they are known. */
const STORED = {
  tickets: ['tickets', `id, custom_fields::jsonb ->> 'ref' AS ref`],
  accounts: ['accounts', 'id, account_name AS ref'],
  uploads: ['reference_recordings', 'id, NULL AS ref'],
  clips: ['reference_video_requests', 'id, NULL AS ref'],
  runs: ['sync_runs', 'id, NULL AS ref'],
} as const;

async function compare(ledgers: Ledgers): Promise<{ missing: string[]; double: string[] }> {
  const [missing, double]: [string[], string[]] = [[], []];
  for (const kind of KINDS) {
    const [table, columns] = STORED[kind];
    const rows = await rowsOf<{ id: string; ref: string | null }>(db, table, columns);
    const known = new Map(rows.map(({ id, ref }) => [id, ref]));
    for (const { ref, id = '' } of ledgers[kind].acknowledged) {
      const found = known.has(id) ? (known.get(id) ?? ref) : undefined;
      if (id !== 'stored' && found !== ref) missing.push(ref);
    }
    const refs = rows.flatMap(({ ref }) => ref ?? []);
    double.push(...refs.filter((ref, i) => refs.indexOf(ref) !== i));
  }
  return { missing, double };
}

test('kill -9 at 20 moments under load: nothing acknowledged is missing, nothing is stored twice, no file is incomplete', async () => {
  const [kills, count] = [20, 300];
  const partner = await startVisionPartner();
  await open();
  let service = await start();
  const { dataDir } = service;
  // Every file takes a while, so that kills meet downloads.
  const body = sampleVideo(60_000);
  const chunks = Array.from({ length: count }, (_, i) => {
    const range = { startTime: inHours(-5 + i / 100), endTime: inHours(-5 + (i + 1) / 100), durationSeconds: 36 };
    const downloadUrl = partner.link(body, (_request, response) => {
      response.writeHead(200, { 'Content-Length': body.length });
      response.write(body.subarray(0, 30_000));
      setTimeout(() => response.end(body.subarray(30_000)), 100);
    });
    return element({ ...range, downloadUrl });
  });
  partner.on(
    CONTINUOUS,
    lists('recordings', () => chunks),
  );
  partner.on(SITES, json({ success: true, data: siteData(3, 6, 120) }));
  const hauler = async (name: string) => (await created<{ id: string }>(service, '/haulers', { name })).id;
  // Another hauler: this synchronisation would remove the site of the tickets.
  const [haulerId, synced] = [await hauler('Killed Hauling'), await hauler('Synced Hauling')];
  const shared = { baseUrl: partner.url, apiKey: 'the-partners-key', enabled: true };
  const connect = async (more: object) =>
    (await created<{ id: string }>(service, '/connections', { ...shared, ...more })).id;
  const ledgers = await openLedgers(service, haulerId, await connect({ haulerId: synced, interface: 'site' }));
  const connectionId = await connect({ haulerId, interface: 'vision', customerId: 'customer-1' });
  await created(service, '/video-subscriptions', { connectionId, truckId: 'TRUCK-7', startTime: inHours(-6) });

  const random = seededRandom(20_261_120);
  let interrupted = 0;
  for (let kill = 1; kill <= kills; kill++) {
    for (const kind of KINDS) ledgers[kind].start(service.url, CALLERS[kind]);
    await delay(300 + random() * 900);
    await service.end('SIGKILL');
    running.delete(service);
    await Promise.all(KINDS.map((kind) => ledgers[kind].stop()));
    expect(await compare(ledgers)).toEqual({ missing: [], double: [] });
    expect(await incompleteFiles(dataDir)).toEqual([]);
    expect(await lanesOwnedLongerThan(db, OWNED_MS)).toBe(0);
    interrupted += (await rowsInWork(db)).length;
    await endLanes(db);
    service = await start(dataDir);
    await Promise.all(KINDS.map((kind) => ledgers[kind].settle(service.url)));
    expect(await compare(ledgers)).toEqual({ missing: [], double: [] });
  }
  // All work that was started ends once.
  await eventually(async () => {
    expect(await rowsOf(db, "reference_video_requests WHERE status <> 'ready'", 'status, message')).toEqual([]);
    expect(await rowsOf(db, "sync_runs WHERE status <> 'succeeded'", 'status')).toEqual([]);
    expect(await rowsOf(db, "recordings WHERE status = 'stored'", 'id')).toHaveLength(count);
  }, 120_000);
  expect(await incompleteFiles(dataDir)).toEqual([]);
  expect(await rowsOf(db, 'tickets', 'id')).toHaveLength(ledgers.tickets.entries.length);
  expect(await rowsOf(db, 'accounts', 'id')).toHaveLength(ledgers.accounts.entries.length);
  expect(await rowsOf(db, 'reference_recordings', 'id')).toHaveLength(ledgers.uploads.entries.length + 1);
  expect(await rowsOf(db, 'sites', 'id')).toHaveLength(3 + 1);
  expect(KINDS.flatMap((kind) => ledgers[kind].wrong)).toEqual([]);
  reportFigures('kill', {
    kills,
    ...Object.fromEntries(KINDS.map((kind) => [kind, ledgers[kind].entries.length])),
    ...{ downloads: count, 'rows in work when killed': interrupted, lost: 0, double: 0 },
  });
}, 900_000);

/** Rows on which this instance works. */
async function inWork({ url }: BuiltService, kind = '[^"]+'): Promise<number> {
  const response = await fetch(`${url}/metrics`, { headers: BEARER });
  const lines = (await response.text()).matchAll(new RegExp(`^work_running{kind="${kind}"} (\\d+)$`, 'gm'));
  return [...lines].reduce((sum, [, rows]) => sum + Number(rows), 0);
}

/** What a late writer could damage. */
const everything = async () => [
  await rowsOf(db, 'recordings', 'id, status, sha256, size_bytes, stored_at, updated_at'),
  await rowsOf(db, 'sync_runs'),
  await rowsOf(db, 'sites'),
  await rowsOf(db, 'materials'),
];

test('three instances start together on an empty database; of one that was paused nothing is written late', async () => {
  const [count, connections] = [48, 6];
  const partner = await startVisionPartner();
  await open({ migrated: false });
  const env = { DOWNLOAD_CONCURRENCY: '4', DOWNLOAD_CONCURRENCY_PER_CONNECTION: '12' };
  const dataDir = join(testServer().folder, 'instances');
  const [killed, late, survivor] = await Promise.all([start(dataDir, env), start(dataDir, env), start(dataDir, env)]);
  const fetched = new Map<string, number>();
  const gate = Promise.withResolvers<void>();
  const body = sampleVideo(800_000);
  const chunks = Array.from({ length: count }, (_, i) => {
    const id = `chunk-${i}`;
    const downloadUrl = partner.link(body, (_request, response) => {
      fetched.set(id, (fetched.get(id) ?? 0) + 1);
      response.writeHead(200, { 'Content-Length': body.length });
      let sent = 0;
      // Fast enough to keep its place: a download that waits for its host leaves it, and an instance takes more.
      const timer = setInterval(() => response.write(body.subarray(sent, (sent += 15_000))), 500);
      response.once('close', () => clearInterval(timer));
      void gate.promise.then(() => {
        clearInterval(timer);
        response.end(body.subarray(sent));
      });
    });
    const range = { startTime: inHours(-5 + i / 100), endTime: inHours(-5 + (i + 1) / 100) };
    return element({ id, truckId: `TRUCK-${i % connections}`, ...range, downloadUrl });
  });
  partner.on(CONTINUOUS, (response, request) =>
    lists('recordings', () => chunks.filter(({ truckId }) => truckId === request.query.get('truckId')))(
      response,
      request,
    ),
  );
  partner.on(SITES, after(300, json({ success: true, data: siteData(2, 4, 60) })));
  const { id: haulerId } = await created<{ id: string }>(survivor, '/haulers', { name: 'Three Hauling' });
  const shared = { haulerId, baseUrl: partner.url, apiKey: 'the-partners-key' };
  for (let i = 0; i < connections; i++) {
    const vision = { ...shared, interface: 'vision', customerId: 'customer-1' };
    const { id: connectionId } = await created<{ id: string }>(survivor, '/connections', vision);
    const subscription = { connectionId, truckId: `TRUCK-${i}`, startTime: inHours(-6) };
    await created(survivor, '/video-subscriptions', subscription);
  }
  await created(survivor, '/connections', { ...shared, interface: 'site' });
  await eventually(async () => {
    for (const one of [killed, late]) expect(await inWork(one, 'vision downloads')).toBeGreaterThan(0);
  });
  late.child.kill('SIGSTOP');
  await killed.end('SIGKILL');
  const held = await rowsInWork(db);
  expect(held).not.toEqual([]);
  gate.resolve();
  await eventually(async () => {
    expect(await rowsOf(db, "recordings WHERE status = 'stored'", 'id')).toHaveLength(count);
    expect(await rowsOf(db, 'sync_runs', 'status')).toEqual([{ status: 'succeeded' }]);
    expect(await rowsInWork(db)).toEqual([]);
  }, 60_000);
  const before = await everything();
  late.child.kill('SIGCONT');
  // The paused instance ends its runs now, and finds its lanes lost.
  await eventually(async () => expect(await inWork(late)).toBe(0));
  await eventually(async () => expect((await fetch(`${late.url}/health/ready`)).status).toBe(200));
  expect(await everything()).toEqual(before);
  expect(late.output()).not.toContain('"level":50');
  expect(await incompleteFiles(dataDir)).toEqual([]);
  // Only an interrupted download is fetched again, once.
  const calls = [...fetched.values()];
  expect(calls).toHaveLength(count);
  expect(calls.filter((times) => times > 1).length).toBeLessThanOrEqual(held.length);
  expect(Math.max(...calls)).toBeLessThanOrEqual(2);
  expect(partner.askedOf(SITES).length).toBeLessThanOrEqual(2);
  reportFigures('instances', {
    'rows in work when killed and paused': held.length,
    downloads: count,
    'late writes': 0,
  });
}, 300_000);
