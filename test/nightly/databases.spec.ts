import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readEnv } from '../../src/config/env.js';
import { Database } from '../../src/database/database.js';
import { Lane } from '../../src/database/lane.js';
import { migrate } from '../../src/database/migrate.js';
import { reasonOf } from '../../src/database/reason.js';
import { issueKey } from '../support/api-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { asAdmin, DatabaseStage } from '../support/database-stage.js';
import { ScaleHouse } from '../support/scale-house.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { type Defaults, setDefaults, UNUSUAL_DEFAULTS } from './databases/database-defaults.js';
import { CERTIFICATE, KEY_FILE, startTlsDatabase, type TlsDatabase } from './databases/tls-database.js';

/** Databases as operators run them: what was reported, and what the service does. */
let plain: TestDatabase;
let tls: TlsDatabase;
beforeAll(async () => {
  plain = await createTestDatabase({ migrated: false });
  tls = await startTlsDatabase(plain.url);
});
afterAll(async () => {
  await tls.stop();
  await plain.drop();
});

const laneOf = (databaseUrl: string, { connections = 1, idleMs = 0 } = {}): Lane =>
  new Lane({
    databaseUrl,
    applicationName: 'field',
    connections,
    statementTimeoutMs: 2_000,
    transactionIdleMs: 4_000,
    isPipelined: false,
    idleMs,
  });

// Source: a firewall between the service and the database forgot silent connections after 240 s: after each quiet hour
// every third call was 503.
describe('a firewall that forgets silent connections, and drops their packets', () => {
  test.each([
    ['that closes them before', 300, ['passed', 'passed', 'passed']],
    ['that keeps them, as the case to be prevented', 0, ['lost', 'lost', 'lost']],
  ])('a pool %s', async (_, idleMs, expected) => {
    const { hostname, port } = new URL(plain.url);
    const proxy = await startTcpProxy({ host: hostname, port: Number(port) });
    const url = new URL(plain.url);
    url.port = String(proxy.port);
    const lane = laneOf(url.href, { connections: 3, idleMs });
    proxy.forgetAfter(1_000);
    const three = () =>
      Promise.all(
        [1, 2, 3].map(() =>
          lane
            .use((session) => session.query('SELECT pg_sleep(0.2)', []))
            .then(
              () => 'passed',
              () => 'lost',
            ),
        ),
      );
    expect(await three()).toEqual(['passed', 'passed', 'passed']);
    await delay(1_500);
    expect(await three()).toEqual(expected);
    await lane.close();
    await proxy.close();
  });

  test('the connections of the service are probed by the kernel each minute, and closed before 240 s', async () => {
    const stage = await DatabaseStage.open();
    const { hot, general, bulk, exchanges } = stage.service.app.get(Database);
    for (const { options } of [hot, general, bulk, exchanges]) {
      expect(options.idleMs).toBeGreaterThan(0);
      expect(options.idleMs).toBeLessThan(240_000);
    }
    expect((await stage.pushTicket()).status).toBe(200);
    const timers = keepAliveTimers(stage.proxy.port);
    if (existsSync('/proc/net/tcp')) {
      expect(timers.length).toBeGreaterThan(0);
      for (const seconds of timers) expect(seconds).toBeLessThanOrEqual(60);
    }
    await stage.close();
  });
});

/** Seconds until the keepalive probe of each connection to a port of this machine; `Infinity` where there is none. */
function keepAliveTimers(port: number): number[] {
  if (!existsSync('/proc/net/tcp')) return [];
  const hex = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1);
  return rows.flatMap((row) => {
    const [, , remote = '', state, , timer = ''] = row.trim().split(/\s+/);
    // 01 is ESTABLISHED; the timer 02 is that of keepalive, in hundredths of a second. 01 is a packet that is not confirmed yet.
    if (!remote.endsWith(hex) || state !== '01' || timer.startsWith('01:')) return [];
    return [timer.startsWith('02:') ? Number.parseInt(timer.slice(3), 16) / 100 : Infinity];
  });
}

// Source: the cluster of a company had `DateStyle = 'SQL, DMY'` for its reports: every list was 500.
describe.each<[string, Defaults, boolean]>([
  ['of the database', UNUSUAL_DEFAULTS, false],
  [
    'of the role',
    { DateStyle: 'SQL, DMY', IntervalStyle: 'sql_standard', default_transaction_isolation: 'repeatable read' },
    true,
  ],
  [
    'of the database that end sessions early',
    {
      DateStyle: 'Postgres, MDY',
      idle_session_timeout: '200ms',
      transaction_timeout: '400ms',
      default_transaction_isolation: 'serializable',
    },
    false,
  ],
])('unusual defaults %s', (_, defaults, isOfRole) => {
  let database: TestDatabase;
  let service: TestApp;
  const role = `reports_${process.pid}`;
  beforeAll(async () => {
    database = await createTestDatabase({ migrated: false });
    const url = new URL(database.url);
    if (isOfRole) {
      await asAdmin(`CREATE ROLE ${role} LOGIN SUPERUSER PASSWORD 'x'`);
      [url.username, url.password] = [role, 'x'];
    }
    await setDefaults(database, defaults, isOfRole ? role : undefined);
    await migrate(url.href);
    service = await startTestApp({ env: { DATABASE_URL: url.href } });
  });
  afterAll(async () => {
    await service.close();
    await database.drop();
  });

  test('change no time, number or text, and every list is read', async () => {
    const house = await ScaleHouse.open(service);
    const flow = { ticketNumber: "back\\slash, 'quote' and 日本", updatedAt: '2026-02-01T08:30:00.123456Z' };
    const id = await house.expectAccepted({
      materials: [house.material({ quantity: 0.30000000000000004 })],
      inboundFlow: flow,
    });
    const stored = await house.stored(id);
    expect(stored).toMatchObject({
      materials: [{ quantity: 0.30000000000000004 }],
      inboundFlow: { ticketNumber: flow.ticketNumber },
    });
    expect(Date.parse(stored.inboundFlow?.updatedAt ?? '')).toBe(Date.parse(flow.updatedAt));
    expect(Math.abs(Date.parse(stored.createdAt) - Date.now())).toBeLessThan(60_000);
    const { key } = await issueKey(service, ['account'], { haulerId: house.haulerId });
    const headers = { 'PLATFORM-API-KEY': key };
    const account = { headers, body: { accountName: 'Müller & Söhne' } };
    expect((await service.call('POST', '/platform-api/v1/accounts', account)).status).toBe(200);
    expect((await service.call('POST', '/platform-api/v1/accounts', account)).status).toBe(409);
    await delay(300);
    const lists = [
      'tickets',
      'accounts',
      'haulers',
      'api-keys',
      'exchanges',
      'actions',
      'recordings',
      'sync-runs',
      'video-requests',
      'sites',
    ];
    for (const path of [
      ...lists.map((list) => `/${list}?haulerId=${house.haulerId}`),
      '/overview',
      `/tickets/${id}/revisions`,
    ]) {
      expect([path, (await service.admin('GET', path)).status]).toEqual([path, 200]);
    }
    expect((await service.call('GET', '/health/ready')).status).toBe(200);
  });
});

/** Asks whether the connection uses TLS, as the service reads its variables: `on`, or the sentence of the start. */
async function connected(host: string, query: string, ca?: string): Promise<string> {
  const url = new URL(plain.url);
  url.host = `${host}:${tls.port}`;
  const { DATABASE_URL = '' } = readEnv({
    DATABASE_URL: `${url.href}${query}`,
    ADMIN_TOKEN: 'a token of 16 letters',
    SECRETS_KEY: '5a'.repeat(32),
    ...(ca === undefined ? {} : { DATABASE_CA: ca }),
  });
  const lane = laneOf(DATABASE_URL);
  try {
    const [row] = await lane.use((session) => session.query<{ one: number }[]>('SELECT 1 AS one', []));
    return row?.one === 1 ? 'connected' : 'no row';
  } catch (error) {
    return reasonOf(error);
  } finally {
    await lane.close();
  }
}

const NAMES_CA =
  /signed by itself or by an unknown authority\. Name the file .* DATABASE_CA, or by sslrootcert in DATABASE_URL\.$/;
const NAMES_MODE = /127\.0\.0\.2.*sslmode=verify-ca with DATABASE_CA, which does not check the name\.$/;

// Source: the certificate of a managed database, or the own one of a server: "self-signed certificate".
test.each<[string, string, string | undefined, RegExp]>([
  ['127.0.0.1', '?sslmode=require', undefined, NAMES_CA],
  ['127.0.0.1', '?sslmode=verify-full', undefined, NAMES_CA],
  ['127.0.0.1', '?sslmode=verify-ca', undefined, NAMES_CA],
  ['127.0.0.1', '?sslmode=no-verify', undefined, /^connected$/],
  ['127.0.0.1', '', CERTIFICATE, /^connected$/],
  ['127.0.0.1', '?sslmode=require', CERTIFICATE, /^connected$/],
  ['127.0.0.1', `?sslmode=verify-full&sslrootcert=${encodeURIComponent(CERTIFICATE)}`, undefined, /^connected$/],
  ['127.0.0.2', '', CERTIFICATE, NAMES_MODE],
  ['127.0.0.2', '?sslmode=verify-full', CERTIFICATE, NAMES_MODE],
  ['127.0.0.2', '?sslmode=verify-ca', CERTIFICATE, /^connected$/],
])('a database at %s with %s and DATABASE_CA %s', async (host, query, ca, expected) => {
  expect(await connected(host, query, ca)).toMatch(expected);
});

test.each(['/nowhere.pem', KEY_FILE])('DATABASE_CA %s is refused', (path) => {
  expect(() => readEnv({ DATABASE_CA: path })).toThrow('DATABASE_CA must be the path of a readable file');
});
