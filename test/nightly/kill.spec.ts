import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { CatalogFixture } from '../support/catalog.js';
import { eventually } from '../support/eventually.js';
import { seededRandom, reportFigures } from '../support/faults.js';
import { demoVideo } from '../support/reference-vision.js';
import { Ledger } from './ledger.js';
import { type BuiltService, startService } from '../support/built-service.js';
import { siteData } from '../support/site-data.js';
import { OWNED_MS } from '../../src/work/lanes.repository.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import {
  CONTINUOUS,
  element,
  inHours,
  lists,
  startVisionPartner,
  type VisionPartner,
} from '../support/scripted-vision.js';
import { sampleVideo } from '../support/sample-video.js';
import { json } from '../support/scripted-partner.js';

const KILLS = 20;
const CHUNKS = 300;
const SEED = 20_261_120;

let database: TestDatabase;
let db: DataSource;
let partner: VisionPartner;
let service: BuiltService;
let dataDir: string | undefined;
let haulerId: string;
let key: string;
let ledgers: Record<'tickets' | 'accounts' | 'uploads' | 'clips' | 'runs', Ledger>;

const boot = async () => {
  service = await startService({ databaseUrl: database.url, ...(dataDir === undefined ? {} : { dataDir }) });
  dataDir = service.dataDir;
};

const created = async <T>(path: string, body: unknown): Promise<T> => {
  const reply = await service.admin<T>('POST', path, body);
  if (reply.status >= 300) throw new Error(`${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body;
};

beforeAll(async () => {
  [database, partner] = await Promise.all([createTestDatabase(), startVisionPartner()]);
  db = await database.connect(4);
  await boot();
  const interfaces = ['scale', 'account', 'vision'];
  haulerId = (await created<{ id: string }>('/haulers', { name: 'Killed Hauling' })).id;
  key = (await created<{ key: string }>('/api-keys', { haulerId, interfaces, allCustomers: true })).key;
  const catalog = new CatalogFixture(db);
  const ticketSite = await catalog.site(haulerId);
  const material = await catalog.material(haulerId, { siteId: ticketSite });
  ledgers = await openLedgers(ticketSite, material);
});
afterAll(async () => {
  await service?.end('SIGKILL');
  await partner?.stop();
  await database?.drop();
});

/** Every file takes a while, so that kills meet downloads. */
function partnersChunks() {
  const body = sampleVideo(60_000);
  return Array.from({ length: CHUNKS }, (_, i) =>
    element({
      startTime: inHours(-5 + i / 100),
      endTime: inHours(-5 + (i + 1) / 100),
      durationSeconds: 36,
      downloadUrl: partner.link(body, (_request, response) => {
        response.writeHead(200, { 'Content-Length': body.length });
        response.write(body.subarray(0, 30_000));
        setTimeout(() => response.end(body.subarray(30_000)), 100);
      }),
    }),
  );
}

async function openLedgers(siteId: string, materialId: string): Promise<typeof ledgers> {
  const chunks = partnersChunks();
  partner.on(
    CONTINUOUS,
    lists('recordings', () => chunks),
  );
  partner.on('GET /scale-platform/v1/sites', json({ success: true, data: siteData(3, 6, 120) }));
  const shared = { baseUrl: partner.url, apiKey: 'the-partners-key', enabled: true };
  // Another hauler: this synchronisation would remove the site of the tickets.
  const synced = (await created<{ id: string }>('/haulers', { name: 'Synced Hauling' })).id;
  const site = await created<{ id: string }>('/connections', { haulerId: synced, interface: 'site', ...shared });
  const vision = await created<{ id: string }>('/connections', {
    haulerId,
    interface: 'vision',
    customerId: 'customer-1',
    ...shared,
  });
  await created('/video-subscriptions', { connectionId: vision.id, truckId: 'TRUCK-7', startTime: inHours(-6) });
  const platform = (extra: Record<string, string> = {}) => ({ 'PLATFORM-API-KEY': key, ...extra });
  const bearer = { Authorization: 'Bearer test-admin-token-0123456789' };
  const bytes = demoVideo(0);
  const minute = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 60_000).toISOString();
  const uploadPath = (n: number) =>
    `/admin/v1/hosted/recordings?customerId=c&truckId=t&cameraId=front&startTime=${minute(n)}&endTime=${minute(n + 1)}`;
  // The source of the clips is stored before the first request for one.
  const first = uploadPath(0).replace('front', 'rear');
  const uploaded = await fetch(service.url + first, {
    method: 'POST',
    headers: { ...bearer, 'Content-Type': 'video/mp4' },
    body: bytes,
  });
  if (uploaded.status !== 201) throw new Error(`no recording: ${await uploaded.text()}`);
  return {
    tickets: new Ledger(
      (n) => ({
        ref: `T${n}`,
        path: '/platform-api/v1/tickets',
        headers: platform(n % 3 === 0 ? { 'Idempotency-Key': `T${n}` } : {}),
        body: {
          siteId,
          materials: [{ id: materialId, name: 'Debris', quantity: n, unitOfMeasure: 'Ton' }],
          // One in three has no flow: only its key prevents a duplicate (decision 22).
          ...(n % 3 === 0 ? {} : { inboundFlow: { ticketNumber: `T${n}`, updatedAt: '2026-01-31T08:30:00Z' } }),
          customFields: { ref: `T${n}` },
        },
      }),
      (body) => body['disposalTicketId'],
    ),
    accounts: new Ledger(
      (n) => ({
        ref: `A${n}`,
        path: '/platform-api/v1/accounts',
        headers: platform(n % 2 === 0 ? { 'Idempotency-Key': `A${n}` } : {}),
        body: { accountName: `A${n}` },
      }),
      (body: { accountId?: string; error?: { details?: { accountId?: string } } }) =>
        body.accountId ?? body.error?.details?.accountId,
    ),
    uploads: new Ledger(
      (n) => ({ ref: `U${n}`, path: uploadPath(n), headers: { ...bearer, 'Content-Type': 'video/mp4' }, body: bytes }),
      // An account that was stored although its response was lost is named by the 409; its name starts with the reference.
      (body: { id?: string; error?: { code: string } }) =>
        body.id ?? (body.error?.code === 'CONFLICT' ? 'stored' : undefined),
    ),
    clips: new Ledger(
      (n) => ({
        ref: `C${n}`,
        path: '/video-platform/v1/videos/requests',
        headers: { 'API-KEY': key },
        body: { customerId: 'c', truckId: 't', cameraId: 'rear', startTime: minute(0), endTime: minute(1) },
      }),
      (body) => body['requestId'],
    ),
    runs: new Ledger(
      (n) => ({ ref: `R${n}`, path: `/admin/v1/connections/${site.id}/sync`, headers: bearer, body: {} }),
      (body) => body['runId'],
    ),
  };
}

const WORKERS = { tickets: 8, accounts: 3, uploads: 1, clips: 1, runs: 1 } as const;
const KINDS = Object.keys(WORKERS) as (keyof typeof WORKERS)[];

/** A clip takes 0.1 s of a core. */
const PAUSE_MS: Partial<Record<keyof typeof WORKERS, number>> = { clips: 0 };

async function underLoad(milliseconds: number, then: () => Promise<unknown>): Promise<void> {
  for (const kind of KINDS) ledgers[kind].start(service.url, WORKERS[kind], PAUSE_MS[kind]);
  await delay(milliseconds);
  await then();
  await Promise.all(KINDS.map((kind) => ledgers[kind].stop()));
}

const ids = async (sql: string): Promise<string[]> => (await db.query<{ id: string }[]>(sql)).map(({ id }) => id);

/** For each kind, the ids in the database by the reference that was sent. */
async function storedIds(kind: 'tickets' | 'accounts'): Promise<Map<string, string[]>> {
  const sql =
    kind === 'tickets'
      ? `SELECT id, custom_fields::jsonb ->> 'ref' AS ref FROM tickets`
      : `SELECT id, account_name AS ref FROM accounts`;
  const found = new Map<string, string[]>();
  for (const { id, ref } of await db.query<{ id: string; ref: string }[]>(sql)) {
    found.set(ref, [...(found.get(ref) ?? []), id]);
  }
  return found;
}

async function compare(): Promise<{ missing: string[]; double: string[] }> {
  const missing: string[] = [];
  const double: string[] = [];
  for (const kind of ['tickets', 'accounts'] as const) {
    const found = await storedIds(kind);
    for (const { ref, id } of ledgers[kind].acknowledged) if (found.get(ref)?.[0] !== id) missing.push(ref);
    for (const [ref, all] of found) if (all.length > 1) double.push(ref);
  }
  const rows = {
    uploads: await ids('SELECT id FROM reference_recordings'),
    clips: await ids('SELECT id FROM reference_video_requests'),
    runs: await ids('SELECT id FROM sync_runs'),
  };
  for (const kind of ['uploads', 'clips', 'runs'] as const) {
    const known = new Set(rows[kind]);
    for (const { ref, id = '' } of ledgers[kind].acknowledged) if (id !== 'stored' && !known.has(id)) missing.push(ref);
  }
  return { missing, double };
}

/** The ids of stored rows whose file is missing or has another SHA-256. */
async function incompleteFiles(): Promise<string[]> {
  const videos = join(dataDir ?? '', 'videos');
  const files = new Map(
    readdirSync(videos, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.mp4'))
      .map((name) => [name.split('/').at(-1)?.replace('.mp4', '') ?? '', join(videos, name)]),
  );
  const rows = await db.query<{ id: string; sha256: string }[]>(`
    SELECT id, sha256 FROM reference_recordings UNION ALL SELECT id, sha256 FROM reference_clips
    UNION ALL SELECT id, sha256 FROM recordings WHERE status = 'stored'`);
  const sum = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');
  return rows.filter(({ id, sha256 }) => sha256 !== sum(files.get(id) ?? '/dev/null')).map(({ id }) => id);
}

/** No lane is owned for longer than its time. Ends that time, and returns the number of rows that were in work. */
async function endLanes(): Promise<number> {
  const tooLong = "SELECT 1 FROM lanes WHERE owned_until > now() + $1 * interval '1 ms'";
  expect(await db.query(tooLong, [OWNED_MS])).toEqual([]);
  await db.query('UPDATE lanes SET owned_until = now()');
  const tables = await db.query<{ name: string }[]>(
    `SELECT c.table_name AS name FROM information_schema.columns AS c JOIN information_schema.columns AS due
       ON (due.table_name, due.column_name) = (c.table_name, 'due_at') WHERE c.column_name = 'started_at'`,
  );
  let inWork = 0;
  for (const { name } of tables) {
    inWork += (await db.query<unknown[]>(`SELECT 1 FROM ${name} WHERE started_at IS NOT NULL`)).length;
  }
  return inWork;
}

test('kill -9 at any moment under load: nothing acknowledged is missing, nothing is stored twice, no file is incomplete', async () => {
  const random = seededRandom(SEED);
  let interrupted = 0;
  for (let kill = 1; kill <= KILLS; kill++) {
    await underLoad(300 + random() * 900, () => service.end('SIGKILL'));
    expect(await compare()).toEqual({ missing: [], double: [] });
    expect(await incompleteFiles()).toEqual([]);
    interrupted += await endLanes();
    await boot();
    await Promise.all(KINDS.map((kind) => ledgers[kind].settle(service.url)));
    expect(await compare()).toEqual({ missing: [], double: [] });
  }
  // All work that was started ends once.
  await eventually(async () => {
    expect(await db.query(`SELECT status, message FROM reference_video_requests WHERE status <> 'ready'`)).toEqual([]);
    expect(await db.query(`SELECT status FROM sync_runs WHERE status <> 'succeeded'`)).toEqual([]);
    expect(await ids(`SELECT id FROM recordings WHERE status = 'stored'`)).toHaveLength(CHUNKS);
  }, 120_000);
  expect(await incompleteFiles()).toEqual([]);
  expect(await ids('SELECT id FROM tickets')).toHaveLength(ledgers.tickets.entries.length);
  expect(await ids('SELECT id FROM accounts')).toHaveLength(ledgers.accounts.entries.length);
  expect(await ids('SELECT id FROM reference_recordings')).toHaveLength(ledgers.uploads.entries.length + 1);
  expect(await ids('SELECT external_id AS id FROM sites')).toHaveLength(3 + 1);
  expect(KINDS.flatMap((kind) => ledgers[kind].wrong)).toEqual([]);
  reportFigures('kill', {
    kills: KILLS,
    ...Object.fromEntries(KINDS.map((kind) => [kind, ledgers[kind].entries.length])),
    downloads: CHUNKS,
    'rows in work when killed': interrupted,
    lost: 0,
    double: 0,
  });
}, 900_000);
