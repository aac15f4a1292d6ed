import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
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
import { countByTruck, holdRows, insertStoredRecordings, setRetentionDays } from '../support/rows.js';
import { startS3Server } from '../support/s3-server.js';
import { sampleVideo } from '../support/sample-video.js';
import { hangs, startScriptedPartner } from '../support/scripted-partner.js';
import { inHours } from '../support/scripted-vision.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { endLanes } from '../support/time.js';

const FILE = sampleVideo(1_000);
/** Each starts the service twice or more, on a machine that may be busy. */
const CASE_MS = 300_000;

let database: TestDatabase;
let db: { dataSource: DataSource };
let service: BuiltService;
let haulerId: string;
const start = async (env: Record<string, string>, dataDir?: string) =>
  startService({ databaseUrl: database.url, env, ...(dataDir === undefined ? {} : { dataDir }) });

beforeEach(async () => {
  database = await createTestDatabase();
  db = { dataSource: await database.connect(4) };
});
afterEach(async () => {
  await service?.end('SIGKILL');
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
