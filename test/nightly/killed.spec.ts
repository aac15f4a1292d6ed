import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import type { Erasure } from '../../src/contracts/admin/erasures.routes.js';
import type { StorageCheck } from '../../src/contracts/admin/storage.routes.js';
import type { WebhookDelivery } from '../../src/contracts/admin/webhooks.routes.js';
import { recordingFile } from '../../src/vision/recordings/recording.rules.js';
import { type BuiltService, startService } from '../support/built-service.js';
import { eventually } from '../support/eventually.js';
import { reportFigures } from '../support/faults.js';
import {
  countByTruck,
  holdRows,
  insertStoredRecordings,
  rowsInWork,
  rowsOf,
  setRetentionDays,
} from '../support/rows.js';
import { startS3Server } from '../support/s3-server.js';
import { sampleVideo } from '../support/sample-video.js';
import { after, hangs, json, startScriptedPartner } from '../support/scripted-partner.js';
import { CONTINUOUS, element, inHours, lists, startVisionPartner } from '../support/scripted-vision.js';
import { siteData } from '../support/site-data.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { TEST_ADMIN_TOKEN, testServer } from '../support/test-run.js';
import { endLanes } from '../support/time.js';

const FILE = sampleVideo(1_000);
/** Each starts the service twice or more, on a machine that may be busy. */
const CASE_MS = 300_000;

let database: TestDatabase;
let db: { dataSource: DataSource };
let service: BuiltService;
let haulerId: string;
const running = new Set<BuiltService>();
const SITES = 'GET /scale-platform/v1/sites';

async function start(env: Record<string, string>, dataDir?: string): Promise<BuiltService> {
  const started = await startService({ databaseUrl: database.url, env, ...(dataDir === undefined ? {} : { dataDir }) });
  running.add(started);
  return started;
}

beforeEach(async () => {
  database = await createTestDatabase();
  db = { dataSource: await database.connect(4) };
});
afterEach(async () => {
  for (const each of running) {
    each.child.kill('SIGCONT');
    await each.end('SIGKILL');
  }
  running.clear();
  await database.drop();
});

async function begin(env: Record<string, string> = {}): Promise<void> {
  service = await start(env);
  haulerId = randomUUID();
  await call('POST', '/haulers', { id: haulerId, name: 'Killed Hauling' });
}

/** Kill -9, and a new instance after the time in which another one would take over. `between` is before its start. */
async function kill(between: () => unknown = () => undefined, env: Record<string, string> = {}): Promise<void> {
  expect(await service.end('SIGKILL')).toBe('SIGKILL');
  await between();
  await endLanes(db);
  service = await start(env, service.dataDir);
}

async function call<Body = Record<string, never>>(method: string, path: string, body?: object): Promise<Body> {
  const reply = await service.admin<Body>(method, path, body);
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body;
}

const connect = async (body: object) => (await call<{ id: string }>('POST', '/connections', { haulerId, ...body })).id;
const pausedVision = () =>
  connect({ interface: 'vision', baseUrl: 'https://partner.invalid', apiKey: 'key', enabled: false });

const pathOf = (id: string) => join(service.dataDir, 'videos', recordingFile(id));
const hasFile = (id: string) => existsSync(pathOf(id));

/** Rows of recordings, and their files. */
async function storedRecordings(rows: Parameters<typeof insertStoredRecordings>[1]): Promise<string[]> {
  const ids = await insertStoredRecordings(db, rows);
  for (const id of ids) {
    await mkdir(dirname(pathOf(id)), { recursive: true });
    await writeFile(pathOf(id), FILE);
  }
  return ids;
}

describe('killed while it', () => {
  test(
    'deletes old recordings, between the commit and the files: the next instance deletes them, and no recording is stored without its file',
    async () => {
      const server = await startS3Server();
      const storage = { STORAGE_URL: server.storageUrl('fleet'), ...server.credentials };
      const env = { VIDEO_RETENTION_DAYS: '30', ...storage };
      await begin(env);
      await call('PUT', `/haulers/${haulerId}/retention`, { onDemandDays: null, continuousDays: null });
      // 100 are one transaction.
      const ids = await insertStoredRecordings(db, {
        ...{ haulerId, connectionId: await pausedVision(), file: FILE, startTime: inHours(-35 * 24) },
        trucks: [
          { truckId: 'OLD', count: 150, days: 31 },
          { truckId: 'YOUNG', count: 5, days: 1 },
        ],
      });
      const objects = join(server.directory, 'objects');
      for (const id of ids) await writeFile(join(objects, encodeURIComponent(`fleet/${recordingFile(id)}`)), FILE);
      await setRetentionDays(db, haulerId, 30);
      server.suspend();
      const run = call('POST', '/retention').catch((error: unknown) => error);
      const atKill = ['OLD expired 100', 'OLD stored 50', 'YOUNG stored 5'];
      await eventually(async () => expect(await countByTruck(db)).toEqual(atKill), 60_000);
      await kill(async () => {
        await run;
        expect([await countByTruck(db), (await readdir(objects)).length]).toEqual([atKill, 155]);
        server.resume();
      }, env);
      const ended = ['OLD expired 150', 'YOUNG stored 5'];
      await eventually(async () => expect(await countByTruck(db)).toEqual(ended), 60_000);
      await eventually(async () => expect(await readdir(objects)).toHaveLength(5), 60_000);
      expect(await call('GET', `/recordings/${ids[0]}`)).toMatchObject({
        status: 'expired',
        reasonCode: 'fileRemoved',
        reason: expect.stringMatching(/^The file was deleted 30 days after it was stored/),
      });
      expect((await call<StorageCheck>('GET', '/doctor')).data).toEqual([]);
    },
    CASE_MS,
  );

  test(
    'erases recordings, between a file and its count: it goes on, and counts nothing twice',
    async () => {
      const [count, at] = [30, 12];
      await begin();
      const connectionId = await pausedVision();
      const [from, to] = ['2026-01-31T08:00:00Z', '2026-01-31T09:00:00Z'];
      const trucks = [{ truckId: 'TRUCK-7', count, days: 0 }];
      const ids = await storedRecordings({ haulerId, connectionId, file: FILE, startTime: from, trucks });
      const range = { connectionId, truckId: 'TRUCK-7', from, to };
      const { preview } = await call<Erasure>('POST', '/erasures', { ...range, dryRun: true });
      const atRecording = await holdRows(db, 'recordings', 'id', ids[at] ?? '');
      const { id = '' } = await call<Erasure>('POST', '/erasures', range);
      const receipt = () => call<Erasure>('GET', `/erasures/${id}`);
      await eventually(async () => expect((await receipt()).erased.recordings).toBe(at));
      // The file is deleted, and its count waits for this lock.
      const atCount = await holdRows(db, 'erasures', 'id', id);
      await atRecording();
      await eventually(() => expect(hasFile(ids[at] ?? '')).toBe(false));
      await kill(atCount);
      await eventually(async () => expect((await receipt()).status).not.toBe('running'), 90_000);
      const done = await receipt();
      expect(done).toMatchObject({
        status: 'done',
        erased: { recordings: count, bytes: count * FILE.length },
      });
      expect(done.erased).toEqual(preview);
      expect(ids.filter(hasFile)).toEqual([]);
      expect((await call<{ data: unknown[] }>('GET', `/recordings?haulerId=${haulerId}`)).data).toEqual([]);
    },
    CASE_MS,
  );

  test(
    'delivers 20 events: none is lost, and each has one webhook-id',
    async () => {
      const [route, events] = ['POST /hook', 20];
      const receiver = await startScriptedPartner();
      await begin();
      const order = { haulerId, interfaces: ['account'], name: 'test' };
      const { key } = await call<{ key: string }>('POST', '/api-keys', order);
      const endpoint = { url: `${receiver.url}/hook`, topics: ['account.created'] };
      const { id } = await call<{ id: string }>('POST', '/webhook-endpoints', endpoint);
      receiver.on(route, (response) => response.writeHead(204).end(), hangs());
      const accounts: string[] = [];
      for (let i = 0; i < events; i++) {
        const response = await fetch(`${service.url}/platform-api/v1/accounts`, {
          method: 'POST',
          headers: { 'PLATFORM-API-KEY': key, 'Content-Type': 'application/json' },
          body: JSON.stringify({ accountName: `Account ${i}` }),
        });
        accounts.push(((await response.json()) as { accountId: string }).accountId);
      }
      // The first one is answered, some hang, and the others wait.
      await eventually(() => expect(receiver.askedOf(route).length).toBeGreaterThan(2));
      await kill(() => receiver.on(route, (response) => response.writeHead(204).end()));
      const path = `/webhook-deliveries?endpointId=${id}&pageSize=100`;
      await eventually(async () => {
        const { data } = await call<{ data: WebhookDelivery[] }>('GET', path);
        expect(data.map(({ status }) => status)).toEqual(Array(events).fill('delivered'));
      }, 90_000);
      const sent = receiver.askedOf(route).map(({ headers, body }) => ({
        id: headers['webhook-id'],
        accountId: (JSON.parse(body) as { data: { accountId: string } }).data.accountId,
      }));
      expect(new Set(sent.map(({ accountId }) => accountId))).toEqual(new Set(accounts));
      expect(new Set(sent.map((each) => each.id)).size).toBe(events);
      const tries = [...Map.groupBy(sent, (each) => each.id).values()].map(({ length }) => length);
      expect(Math.max(...tries)).toBe(2);
    },
    CASE_MS,
  );
});

/** The rows with a file: id, SHA-256. */
const FILE_TABLES = [
  'reference_recordings',
  'reference_clips WHERE recording_id IS NULL',
  "recordings WHERE status = 'stored'",
];

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

/** Rows on which this instance works. */
async function inWork({ url }: BuiltService, kind = '[^"]+'): Promise<number> {
  const response = await fetch(`${url}/metrics`, { headers: { Authorization: `Bearer ${TEST_ADMIN_TOKEN}` } });
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
  const [count, connections] = [48, 24];
  const partner = await startVisionPartner();
  await database.drop();
  database = await createTestDatabase({ migrated: false });
  db = { dataSource: await database.connect(4) };
  const env = { DOWNLOAD_CONCURRENCY: '4', DOWNLOAD_CONCURRENCY_PER_CONNECTION: '4' };
  const dataDir = join(testServer().folder, 'instances');
  const [killed, late, survivor] = await Promise.all([start(env, dataDir), start(env, dataDir), start(env, dataDir)]);
  service = survivor;
  const fetched = new Map<string, number>();
  const gate = Promise.withResolvers<void>();
  const body = sampleVideo(800_000);
  const chunks = Array.from({ length: count }, (_, i) => {
    const id = `chunk-${i}`;
    const downloadUrl = partner.link(body, (_request, response) => {
      fetched.set(id, (fetched.get(id) ?? 0) + 1);
      response.writeHead(200, { 'Content-Length': body.length });
      let sent = 0;
      // Fast enough to keep its place, so that an instance leaves connections to others.
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
  const { id: haulerId } = await call<{ id: string }>('POST', '/haulers', { name: 'Three Hauling' });
  const shared = { haulerId, baseUrl: partner.url, apiKey: 'the-partners-key' };
  for (let i = 0; i < connections; i++) {
    const vision = { ...shared, interface: 'vision', customerId: 'customer-1' };
    const { id: connectionId } = await call<{ id: string }>('POST', '/connections', vision);
    const subscription = { connectionId, truckId: `TRUCK-${i}`, startTime: inHours(-6) };
    await call('POST', '/video-subscriptions', subscription);
  }
  await call('POST', '/connections', { ...shared, interface: 'site' });
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
