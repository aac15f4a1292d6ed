import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { MIGRATIONS } from '../../src/database/migrations.js';
import { storageName } from '../../src/storage/storage.js';
import { type BuiltService, startService } from '../support/built-service.js';
import { CatalogFixture } from '../support/catalog.js';
import { eventually } from '../support/eventually.js';
import { reportFigures } from '../support/faults.js';
import { demoVideo } from '../support/reference-vision.js';
import { after, json } from '../support/scripted-partner.js';
import { siteData } from '../support/site-data.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { testServer } from '../support/test-run.js';
import {
  CONTINUOUS,
  element,
  inHours,
  lists,
  startVisionPartner,
  type VisionPartner,
} from '../support/scripted-vision.js';
import { sampleVideo } from '../support/sample-video.js';

const CHUNKS = 120;
/** Each has its own lane of downloads. */
const CONNECTIONS = 6;
const ROUNDS = 4;
const FLOWS = 300;
const SITES = 'GET /scale-platform/v1/sites';

/** The places of one instance are taken by one connection, so each instance gets others. */
const AT_ONCE = { DOWNLOAD_CONCURRENCY: '4', DOWNLOAD_CONCURRENCY_PER_CONNECTION: '12' };
/** For the response of an instance that may be paused. */
const ANSWER_TIMEOUT_MS = 1_000;

let database: TestDatabase;
let db: DataSource;
let partner: VisionPartner;
const dataDir = () => join(testServer().folder, 'instances');
const running: BuiltService[] = [];

type Three = readonly [BuiltService, BuiltService, BuiltService];

/** On an empty database: one instance migrates, the others wait for it, and all serve. */
async function startTogether(): Promise<Three> {
  database = await createTestDatabase({ migrated: false });
  const options = { databaseUrl: database.url, dataDir: dataDir(), env: AT_ONCE };
  const three = (await Promise.all([1, 2, 3].map(() => startService(options)))) as unknown as Three;
  running.push(...three);
  for (const { url } of three) expect((await fetch(`${url}/health/ready`)).status).toBe(200);
  db = await database.connect(4);
  const applied = await db.query<{ name: string }[]>('SELECT name FROM migrations ORDER BY id');
  expect(applied.map(({ name }) => name)).toEqual(MIGRATIONS.map(({ name }) => name));
  return three;
}

beforeAll(async () => {
  partner = await startVisionPartner();
});
afterEach(async () => {
  for (const service of running.splice(0)) {
    service.child.kill('SIGCONT');
    await service.end('SIGKILL');
  }
  await database.drop();
});
afterAll(() => partner.stop());

const created = async <T>(service: BuiltService, path: string, body: unknown): Promise<T> => {
  const reply = await service.admin<T>('POST', path, body);
  if (reply.status >= 300) throw new Error(`${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body;
};

/** Rows on which this instance works. */
async function inWork({ url }: BuiltService, kind = '[^"]+'): Promise<number> {
  const response = await fetch(`${url}/metrics`, { headers: { Authorization: 'Bearer test-admin-token-0123456789' } });
  const lines = (await response.text()).matchAll(new RegExp(`^work_running{kind="${kind}"} (\\d+)$`, 'gm'));
  return [...lines].reduce((sum, [, rows]) => sum + Number(rows), 0);
}

describe('three instances start together; one is killed, one is paused until others own its lanes, and continues', () => {
  test.each(Array.from({ length: ROUNDS }, (_, round) => round + 1))(
    'one migrates, each row is processed once, and the late one writes nothing (round %i)',
    async () => {
      const [killed, late, survivor] = await startTogether();
      const fetched = new Map<string, number>();
      const gate = Promise.withResolvers<void>();
      const house = await open(survivor, fetched, gate.promise);
      const pushes = house.pushEverywhere([killed, late, survivor]);
      await eventually(async () => {
        for (const one of [killed, late]) expect(await inWork(one, 'vision downloads')).toBeGreaterThan(0);
      });
      late.child.kill('SIGSTOP');
      await killed.end('SIGKILL');
      const held = await started();
      expect(held).not.toEqual([]);
      gate.resolve();
      await pushes;
      // The surviving instance has finished its own rows. The other rows belong to the killed and the paused one.
      await eventually(async () => expect(await inWork(survivor)).toBe(0));
      await eventually(allDone, 60_000);
      const before = await everything();
      late.child.kill('SIGCONT');
      // The paused instance ends its runs now, and finds its lanes lost.
      await eventually(async () => expect(await inWork(late)).toBe(0));
      await eventually(async () => expect((await fetch(`${late.url}/health/ready`)).status).toBe(200));
      expect(await everything()).toEqual(before);
      expect(late.output()).not.toContain('"level":50');
      expect(await spoilt()).toEqual([]);
      expect(await house.tickets()).toBe(FLOWS);
      const calls = [...fetched.values()];
      expect(calls).toHaveLength(CHUNKS);
      // Only an interrupted download is fetched again, once.
      const again = calls.filter((times) => times > 1).length;
      expect(again).toBeLessThanOrEqual(held.length);
      expect(Math.max(...calls)).toBeLessThanOrEqual(2);
      expect(partner.askedOf(SITES).length).toBeLessThanOrEqual(2);
      reportFigures('instances', {
        'rows in work when killed and stopped': held.length,
        downloads: CHUNKS,
        'fetched again': again,
        tickets: FLOWS,
        lost: 0,
        double: 0,
        'late writes': 0,
      });
    },
    120_000,
  );
});

/**
 * All due rows: downloads that are slow until the gate opens, a synchronisation, clips of the partner side; and a
 * scale house that does not know which instance is alive.
 */
async function open(service: BuiltService, fetched: Map<string, number>, gate: Promise<void>) {
  partner.reset();
  const body = sampleVideo(800_000);
  const chunks = Array.from({ length: CHUNKS }, (_, i) => {
    const id = `chunk-${i}`;
    const downloadUrl = partner.link(body, (_request, response) => {
      fetched.set(id, (fetched.get(id) ?? 0) + 1);
      response.writeHead(200, { 'Content-Length': body.length });
      let sent = 0;
      // Fast enough to keep its place: a download that waits for its host leaves it, and an instance takes more.
      const timer = setInterval(() => response.write(body.subarray(sent, (sent += 15_000))), 500);
      response.once('close', () => clearInterval(timer));
      void gate.then(() => {
        clearInterval(timer);
        response.end(body.subarray(sent));
      });
    });
    return element({
      id,
      truckId: `TRUCK-${i % CONNECTIONS}`,
      startTime: inHours(-5 + i / 100),
      endTime: inHours(-5 + (i + 1) / 100),
      downloadUrl,
    });
  });
  partner.on(CONTINUOUS, (response, request) => {
    const listed = chunks.filter(({ truckId }) => truckId === request.query.get('truckId'));
    lists('recordings', () => listed)(response, request);
  });
  partner.on(SITES, after(300, json({ success: true, data: siteData(2, 4, 60) })));
  const [haulerId, synced] = await Promise.all(
    ['Three Hauling', 'Synced Hauling'].map(
      async (name) => (await created<{ id: string }>(service, '/haulers', { name })).id,
    ),
  );
  const { key } = await created<{ key: string }>(service, '/api-keys', {
    haulerId,
    interfaces: ['scale', 'vision'],
    allCustomers: true,
  });
  const catalog = new CatalogFixture(db);
  const siteId = await catalog.site(haulerId ?? '');
  const material = await catalog.material(haulerId ?? '', { siteId });
  await requestClips(service, key);
  const shared = { baseUrl: partner.url, apiKey: 'the-partners-key' };
  const vision = { haulerId, interface: 'vision', customerId: 'customer-1', ...shared };
  for (let i = 0; i < CONNECTIONS; i++) {
    const { id: connectionId } = await created<{ id: string }>(service, '/connections', vision);
    const subscription = { connectionId, truckId: `TRUCK-${i}`, startTime: inHours(-6) };
    await created(service, '/video-subscriptions', subscription);
  }
  await created(service, '/connections', { haulerId: synced, interface: 'site', ...shared });
  const push = (instance: BuiltService, n: number) =>
    fetch(`${instance.url}/platform-api/v1/tickets`, {
      method: 'POST',
      headers: { 'PLATFORM-API-KEY': key, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        siteId,
        materials: [{ id: material, name: 'Debris', quantity: 1, unitOfMeasure: 'Ton' }],
        inboundFlow: { ticketNumber: `F${n}`, updatedAt: '2026-01-31T08:30:00Z' },
      }),
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    }).then(
      ({ status }) => status,
      () => 0,
    );
  return {
    /**
     * Pushes the same flow to all instances. The last of them accepts it, perhaps later: the server ends the transaction of a
     * paused instance, which releases its locks.
     */
    async pushEverywhere(instances: readonly BuiltService[]) {
      const taken = (flow: number) =>
        eventually(async () => expect(await push(instances.at(-1) as BuiltService, flow)).toBe(200));
      for (let n = 0; n < FLOWS; n += 10) {
        const flows = Array.from({ length: 10 }, (_, i) => n + i);
        await Promise.all(
          flows.flatMap((flow) => [...instances.slice(0, -1).map((one) => push(one, flow)), taken(flow)]),
        );
      }
    },
    async tickets() {
      const [row] = await db.query<[{ count: number }]>('SELECT count(*)::int AS count FROM tickets');
      return row.count;
    },
  };
}

/** A recording of the partner side, and requests for clips of it. */
async function requestClips({ url }: BuiltService, key: string): Promise<void> {
  const range = { startTime: '2026-01-31T08:30:00Z', endTime: '2026-01-31T08:31:00Z' };
  const camera = { customerId: 'c', truckId: 't', cameraId: 'front' };
  const query = new URLSearchParams({ ...camera, ...range }).toString();
  const headers = { Authorization: 'Bearer test-admin-token-0123456789', 'Content-Type': 'video/mp4' };
  await fetch(`${url}/admin/v1/hosted/recordings?${query}`, { method: 'POST', headers, body: demoVideo(0) });
  for (let i = 0; i < 6; i++) {
    const { status } = await fetch(`${url}/video-platform/v1/videos/requests`, {
      method: 'POST',
      headers: { 'API-KEY': key, 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...camera, ...range }),
    });
    expect(status).toBe(202);
  }
}

/** Tables of due rows. */
const workTables = () =>
  db.query<{ name: string }[]>(
    `SELECT c.table_name AS name FROM information_schema.columns AS c JOIN information_schema.columns AS due
       ON (due.table_name, due.column_name) = (c.table_name, 'due_at') WHERE c.column_name = 'started_at'`,
  );

/** The rows that are in work, by table and id. */
async function started(): Promise<string[]> {
  const found: string[] = [];
  for (const { name } of await workTables()) {
    const rows = await db.query<{ row: string }[]>(
      `SELECT '${name} ' || coalesce(to_jsonb(t) ->> 'id', to_jsonb(t) ->> 'customer_id') AS row FROM ${name} AS t
       WHERE started_at IS NOT NULL`,
    );
    found.push(...rows.map(({ row }) => row));
  }
  return found;
}

async function allDone(): Promise<void> {
  expect(await db.query(`SELECT status FROM recordings WHERE status <> 'stored'`)).toEqual([]);
  expect(await db.query('SELECT id FROM recordings')).toHaveLength(CHUNKS);
  expect(await db.query(`SELECT status, message FROM reference_video_requests WHERE status <> 'ready'`)).toEqual([]);
  expect(await db.query('SELECT status FROM sync_runs')).toEqual([{ status: 'succeeded' }]);
  expect(await started()).toEqual([]);
}

/** The rows that a late writer could damage. */
const everything = async (): Promise<Record<string, unknown>> => ({
  recordings: await db.query(
    'SELECT id, status, sha256, size_bytes, stored_at, updated_at FROM recordings ORDER BY id',
  ),
  clips: await db.query<unknown[]>('SELECT * FROM reference_clips ORDER BY id'),
  requests: await db.query<unknown[]>('SELECT id, status, finished_at FROM reference_video_requests ORDER BY id'),
  runs: await db.query<unknown[]>('SELECT * FROM sync_runs'),
  sites: await db.query<unknown[]>('SELECT * FROM sites ORDER BY id'),
  materials: await db.query<unknown[]>('SELECT * FROM materials ORDER BY id'),
  tickets: await db.query<unknown[]>('SELECT * FROM tickets ORDER BY id'),
});

async function spoilt(): Promise<string[]> {
  const rows = await db.query<{ id: string; sha256: string; folder: string }[]>(
    `SELECT id, sha256, 'recordings' AS folder FROM recordings
     UNION ALL SELECT id, sha256, 'reference-clips' FROM reference_clips`,
  );
  const sum = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');
  return rows
    .filter(({ id, sha256, folder }) => sum(join(dataDir(), 'videos', storageName(folder, id))) !== sha256)
    .map(({ id }) => id);
}
