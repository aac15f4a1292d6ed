import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { type BuiltService, startService } from '../support/built-service.js';
import { eventually } from '../support/eventually.js';
import { reportFigures } from '../support/faults.js';
import { rowsInWork, rowsOf } from '../support/rows.js';
import { sampleVideo } from '../support/sample-video.js';
import { after, json } from '../support/scripted-partner.js';
import { CONTINUOUS, element, inHours, lists, startVisionPartner } from '../support/scripted-vision.js';
import { siteData } from '../support/site-data.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { TEST_ADMIN_TOKEN, testServer } from '../support/test-run.js';

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
  const [count, connections] = [48, 24];
  const partner = await startVisionPartner();
  await open({ migrated: false });
  const env = { DOWNLOAD_CONCURRENCY: '4', DOWNLOAD_CONCURRENCY_PER_CONNECTION: '4' };
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
