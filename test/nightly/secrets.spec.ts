import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { type BuiltService, startService } from '../support/built-service.js';
import { CatalogFixture } from '../support/catalog.js';
import { eventually } from '../support/eventually.js';
import { reportFigures } from '../support/faults.js';
import { demoVideo } from '../support/reference-vision.js';
import { html, raw } from '../support/scripted-partner.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import {
  CONTINUOUS,
  element,
  inHours,
  lists,
  startVisionPartner,
  type VisionPartner,
} from '../support/scripted-vision.js';

const PARTNER_KEY = 'partner-key-that-nobody-may-see-4711';
const LINK_SECRET = 'sig=secret';
const ADMIN_TOKEN = 'test-admin-token-0123456789';
const SECRETS_KEY = '5a'.repeat(32);

let database: TestDatabase;
let db: DataSource;
let partner: VisionPartner;
let service: BuiltService;
/** Every response of the run except those that contain a secret on purpose. */
const answers: string[] = [];
let keys: readonly string[];
/** Every text that could contain a secret after the run. */
let places: Readonly<Record<'logs' | 'answers' | 'database', string>>;

/** Texts that would be a line of their own, or colour a terminal, if a log wrote them unchanged. */
const FORGED = '\n{"level":60,"msg":"forged"}\r\n\u001b[31mforged\u2028\u0085\u009b31m';

beforeAll(async () => {
  [database, partner] = await Promise.all([createTestDatabase(), startVisionPartner()]);
  db = await database.connect(2);
  service = await startService({ databaseUrl: database.url, env: { LOG_LEVEL: 'trace' } });
  keys = await busyRun();
  await call('GET', '/metrics', { Authorization: `Bearer ${ADMIN_TOKEN}` });
  for (const name of ['scale', 'account', 'site', 'vision', 'admin'])
    for (const form of ['json', 'yaml']) await call('GET', `/docs/${name}.${form}`, {});
  const stored = await databaseText();
  // The last lines are written when the process ends.
  expect(await service.end('SIGTERM')).toBe(0);
  places = { logs: service.output(), answers: answers.join('\n'), database: stored };
}, 90_000);
afterAll(async () => {
  await service.end('SIGKILL');
  await partner.stop();
  await database.drop();
});

async function call(method: string, path: string, headers: Record<string, string>, body?: unknown) {
  const response = await fetch(service.url + path, {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  answers.push(`${[...response.headers].join('\n')}\n${text}`);
  return { status: response.status, text };
}

const admin = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
  const { text } = await call(method, `/admin/v1${path}`, { Authorization: `Bearer ${ADMIN_TOKEN}` }, body);
  return (text === '' ? undefined : JSON.parse(text)) as T;
};

/** A run with everything that could reveal a secret: valid calls, invalid ones, a partner that echoes its key. */
async function busyRun(): Promise<string[]> {
  const { id: haulerId } = await admin<{ id: string }>('POST', '/haulers', { name: 'Secretive Hauling' });
  const interfaces = ['scale', 'account', 'site', 'vision'];
  const issued = await service.admin<{ id: string; key: string }>('POST', '/api-keys', {
    haulerId,
    interfaces,
    allCustomers: true,
  });
  const rotated = await service.admin<{ key: string }>('POST', `/api-keys/${issued.body.id}/rotate`, {});
  const keys = [issued.body.key, rotated.body.key];
  const siteId = await new CatalogFixture(db).site(haulerId);
  for (const key of keys) {
    for (const header of ['PLATFORM-API-KEY', 'API-KEY', 'Authorization', 'X-Request-Id', 'Idempotency-Key']) {
      const headers = { [header]: key };
      await call('POST', '/platform-api/v1/tickets', headers, { siteId, materials: [{}], x: 1 });
      await call('POST', '/platform-api/v1/accounts', { 'PLATFORM-API-KEY': key, ...headers }, '{"broken');
      await call('GET', '/video-platform/v1/videos?customerId=nobody', headers);
      await call('GET', `/scale-platform/v1/sites?haulerId=${haulerId}`, headers);
      await call('GET', `/nothing/${key}?key=${key}`, {});
    }
  }
  await forgeries(keys[1] ?? '');
  await partnersThatSpill(haulerId);
  return keys;
}

/** Texts of a caller that could reach the log. */
async function forgeries(key: string): Promise<void> {
  const path = encodeURIComponent(FORGED);
  for (const url of [`/${path}`, `/platform-api/v1/tickets?x=${path}`, `/admin/v1/tickets/${path}`, `/docs/${path}`])
    await call('GET', url, {
      'PLATFORM-API-KEY': key,
      'User-Agent': 'forged\tagent',
      'X-Request-Id': 'a"},{"level":60',
    });
  await call('POST', '/platform-api/v1/accounts', { 'PLATFORM-API-KEY': key }, { accountName: FORGED });
  await call('POST', '/platform-api/v1/tickets', { 'PLATFORM-API-KEY': key }, { siteId: FORGED, [FORGED]: FORGED });
}

async function partnersThatSpill(haulerId: string): Promise<void> {
  const echoed = `${FORGED} Unknown key ${PARTNER_KEY} (${encodeURIComponent(PARTNER_KEY)}, ${Buffer.from(PARTNER_KEY).toString('base64')})`;
  const error = JSON.stringify({ success: false, error: { code: 'UNAUTHORIZED', message: echoed } });
  const record = { id: 'no uuid', name: echoed };
  const spilling = JSON.stringify({ success: true, data: { sites: [record], kiosks: [], materials: [] } });
  const shared = { haulerId, baseUrl: partner.url, apiKey: PARTNER_KEY, enabled: false };
  const { id } = await admin<{ id: string }>('POST', '/connections', { ...shared, interface: 'site' });
  for (const reply of [
    raw(error, { status: 401 }),
    raw(error, { status: 500 }),
    html(500),
    raw(`{"x":"${echoed}`),
    raw(spilling),
  ]) {
    partner.on('GET /scale-platform/v1/sites', reply);
    await admin('POST', `/connections/${id}/check`);
    const { runId } = await admin<{ runId: string }>('POST', `/connections/${id}/sync`);
    await eventually(async () => {
      expect((await admin<{ finishedAt: string | null }>('GET', `/sync-runs/${runId}`)).finishedAt).not.toBeNull();
    });
    await admin('GET', `/sync-runs/${runId}/quarantine`);
  }
  const bad = element({ startTime: echoed });
  const good = element({ startTime: inHours(-2), endTime: inHours(-1.9), downloadUrl: partner.link(demoVideo(0)) });
  const dead = element({
    startTime: inHours(-1.9),
    endTime: inHours(-1.8),
    downloadUrl: `${partner.url}/gone?${LINK_SECRET}`,
  });
  partner.on(
    CONTINUOUS,
    lists('recordings', () => [bad, good, dead]),
  );
  const vision = await admin<{ id: string }>('POST', '/connections', {
    ...shared,
    interface: 'vision',
    customerId: 'customer-1',
    enabled: true,
  });
  await admin('POST', '/video-subscriptions', { connectionId: vision.id, truckId: 'TRUCK-7', startTime: inHours(-3) });
  await eventually(async () => {
    expect((await admin<{ data: unknown[] }>('GET', '/recordings?status=stored')).data).toHaveLength(1);
  });
  for (const path of ['/connections', '/recordings', '/sync-runs', '/api-keys', '/sites']) await admin('GET', path);
}

/** The whole database as text, except the links of recordings: downloads need them, and they expire after hours. */
async function databaseText(): Promise<string> {
  const tables = await db.query<{ name: string }[]>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
  );
  const texts = await Promise.all(
    tables.map(({ name }) => {
      const text = /^recordings(_|$)/.test(name) ? `to_jsonb(t) - 'link'` : 't';
      return db.query<{ text: string }[]>(`SELECT (${text})::text AS text FROM "${name}" AS t`);
    }),
  );
  return texts.flatMap((rows) => rows.map(({ text }) => text)).join('\n');
}

test('no secret is in logs, responses, metrics, the database or the documents', () => {
  expect(places.logs.split('\n').length).toBeGreaterThan(50);
  const partners = [PARTNER_KEY, Buffer.from(PARTNER_KEY).toString('base64'), Buffer.from(PARTNER_KEY).toString('hex')];
  const secrets = [...keys, ADMIN_TOKEN, SECRETS_KEY, ...partners, LINK_SECRET, new URL(database.url).password];
  const found = Object.entries(places).flatMap(([place, text]) =>
    // A caller that uses its key as the id of its request receives that id, and only that. It is not stored or logged.
    secrets
      .filter((secret) => (place === 'answers' ? withoutRequestIds(text) : text).includes(secret))
      .map((secret) => `${secret.slice(0, 12)}… in ${place}`),
  );
  expect(found).toEqual([]);
  // The partner did echo its key, and the service noticed it.
  expect(places.answers).toContain('[redacted]');
  expect(places.database).toContain('[redacted]');
  reportFigures('secrets', {
    'secrets looked for': secrets.length,
    'characters searched': Object.values(places).join('').length,
    found: 0,
  });
});

test('no text of callers or partners starts a line of the log, or is a control character in it', () => {
  const lines = places.logs.split('\n').filter((line) => line !== '');
  const logged = lines.filter((line) => !line.startsWith('haulbridge listens on '));
  expect(lines.length - logged.length).toBeLessThanOrEqual(1);
  const parsed = logged.map((line) => JSON.parse(line) as { level: number; msg?: string });
  expect(parsed.filter(({ level, msg }) => level === 60 || msg === 'forged')).toEqual([]);
  // It was logged as escaped text.
  expect(places.logs).toContain('forged');
  expect(logged.filter((line) => /[\p{Cc}\u2028\u2029]/u.test(line))).toEqual([]);
});

const withoutRequestIds = (text: string) =>
  text.replace(/x-request-id,[^\n]*|"requestId":"[^"]*"|"message":"no route for [^"]*"/g, '');
