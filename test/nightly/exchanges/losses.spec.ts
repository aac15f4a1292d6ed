import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { uuidv7 } from '../../../src/database/uuid.js';
import type { ExchangeRecord } from '../../../src/exchanges/exchange-record.js';
import { ExchangeLog } from '../../../src/exchanges/exchange-log.service.js';
import { toRow } from '../../../src/exchanges/exchange-row.js';
import { ExchangeWriter } from '../../../src/exchanges/exchange-writer.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { asAdmin, DatabaseStage } from '../../support/database-stage.js';
import { eventually } from '../../support/eventually.js';
import { listExchanges, newestExchange } from '../../support/exchange-scene.js';
import { startServiceProcess } from '../../support/service-process.js';
import { SiteScene } from '../../support/site-scene.js';

let scene: SiteScene;
let service: TestApp;
beforeAll(async () => {
  scene = await SiteScene.start();
  service = scene.service;
  await scene.renew();
});
afterAll(() => scene.stop());

/** The connections that write the log of this database; other files of the run have theirs on the same server. */
const WRITERS = `FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'haulbridge exchanges'`;

const account = (url: TestApp, key: string, body: object, headers: Record<string, string> = {}) =>
  url.call('POST', '/platform-api/v1/accounts', { headers: { 'PLATFORM-API-KEY': key, ...headers }, body });

test('a database that does not take exchanges loses no push and no exchange', async () => {
  const { key } = await issueKey(service, ['account']);
  await service.app.get(ExchangeLog).flush();
  await service.dataSource.query('ALTER TABLE exchanges RENAME TO exchanges_away');
  expect((await account(service, key, { accountName: 'While away' })).status).toBe(200);
  await delay(500);
  await service.dataSource.query('ALTER TABLE exchanges_away RENAME TO exchanges');
  expect((await newestExchange(service, { reference: 'accountName:While away' })).result).toBe('created');
  await service.dataSource.query(`SELECT pg_terminate_backend(pid) ${WRITERS}`);
  await account(service, key, { accountName: 'After a lost connection' });
  const found = await newestExchange(service, { reference: 'accountName:After a lost connection' });
  expect(found.result).toBe('created');
  expect(await lostIn(service)).toBe(0);
});

test('only the exchange that PostgreSQL refuses is lost, and a missing partition is created', async () => {
  const { key } = await issueKey(service, ['account']);
  await service.app.get(ExchangeLog).flush();
  const [partition] = await service.dataSource.query<{ name: string }[]>(
    `SELECT 'exchanges_' || to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD') AS name`,
  );
  await service.dataSource.query(`DROP TABLE ${partition?.name}`);
  await account(service, key, { accountName: 'Without a partition' });
  const found = () => newestExchange(service, { reference: 'accountName:Without a partition' });
  expect((await found()).result).toBe('created');
  await service.dataSource.query('ALTER TABLE exchanges ADD CONSTRAINT refused CHECK (duration_ms < 0) NOT VALID');
  await account(service, key, { accountName: 'Refused by PostgreSQL' });
  await service.app.get(ExchangeLog).flush();
  await service.dataSource.query('ALTER TABLE exchanges DROP CONSTRAINT refused');
  expect(await lostIn(service, 'not-writable')).toBe(1);
});

test('a connection that is read-only is replaced, and its exchanges are stored', async () => {
  const { key } = await issueKey(service, ['account']);
  const name = new URL(service.env.DATABASE_URL).pathname.slice(1);
  const before = await lostIn(service);
  await service.dataSource.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  await service.dataSource.query(`SELECT pg_terminate_backend(pid) ${WRITERS}`);
  expect((await account(service, key, { accountName: 'On a standby' })).status).toBe(200);
  await delay(700);
  // Not through the service: all of its connections leave a server that refuses writes.
  await asAdmin(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
  expect((await newestExchange(service, { reference: 'accountName:On a standby' })).result).toBe('created');
  expect(await lostIn(service)).toBe(before);
});

test('a batch whose commit was not confirmed is stored and counted once', async () => {
  const count = async () => {
    const [row] = await service.dataSource.query<{ rows: string; counted: string; bytes: string }[]>(
      `SELECT (SELECT count(*) FROM exchanges) AS rows, (SELECT sum(count) FROM exchange_hours) AS counted,
         (SELECT sum(bytes) FROM exchange_days) AS bytes`,
    );
    return row;
  };
  const record = () => toRow({ ...recordOf(), id: uuidv7() }, 'whole', 0);
  const [first, second] = [record(), record()];
  const writer = service.app.get(ExchangeWriter);
  await service.app.get(ExchangeLog).flush();
  const before = await count();
  await writer.write([first]);
  await expect(writer.write([first, second])).rejects.toThrow(/duplicate key/);
  await writer.write([first, second], { isRepeated: true });
  const after = await count();
  expect(Number(after?.rows) - Number(before?.rows)).toBe(2);
  expect(Number(after?.counted) - Number(before?.counted)).toBe(2);
  expect(Number(after?.bytes) - Number(before?.bytes)).toBe(first.line.length + second.line.length + 2);
});

test('five seconds without a database lose no exchange', async () => {
  const stage = await DatabaseStage.open();
  try {
    const requestIds: string[] = [];
    const call = async (): Promise<void> => {
      const { headers } = await stage.createAccount();
      requestIds.push(headers.get('x-request-id') ?? '');
    };
    const calls: Promise<void>[] = [];
    const pushFor = async (milliseconds: number) => {
      for (const end = performance.now() + milliseconds; performance.now() < end; await delay(25)) {
        for (let i = 0; i < 5; i++) calls.push(call());
      }
    };
    await pushFor(300);
    stage.proxy.cut();
    await pushFor(5_000);
    stage.proxy.pass();
    await Promise.all(calls);
    await eventually(async () => {
      const rows = await stage.service.dataSource.query<{ request_id: string }[]>('SELECT request_id FROM exchanges');
      const stored = new Set(rows.map(({ request_id }) => request_id));
      expect(requestIds.filter((id) => !stored.has(id))).toEqual([]);
    });
    expect(requestIds.length).toBeGreaterThan(100);
    expect(await lostIn(stage.service)).toBe(0);
  } finally {
    await stage.close();
  }
}, 90_000);

test('a log that cannot keep up loses its oldest exchanges and counts them, and every push is answered', async () => {
  const { key } = await issueKey(service, ['account']);
  const slow = await startTestApp({ on: service, env: { EXCHANGE_BODY_LIMIT: 1_048_576 } });
  const lock = service.dataSource.createQueryRunner();
  try {
    await lock.startTransaction();
    await lock.query('LOCK TABLE exchanges IN ACCESS EXCLUSIVE MODE');
    await account(slow, key, { accountName: 'Before the lock' });
    await eventually(async () => {
      const waiting = await service.dataSource.query<unknown[]>(`SELECT ${WRITERS} AND wait_event_type = 'Lock'`);
      expect(waiting.length).toBeGreaterThan(0);
    });
    const filler = 'x'.repeat(900_000);
    for (let i = 0; i < 40; i++) expect((await account(slow, key, { accountName: i, filler })).status).toBe(400);
    expect((await account(slow, key, { accountName: 'During the lock' })).status).toBe(200);
    expect(await lostIn(slow, 'queue-full')).toBeGreaterThan(5);
    await lock.rollbackTransaction();
    for (const accountName of ['Before the lock', 'During the lock']) {
      const found = await newestExchange(slow, { reference: `accountName:${accountName}` });
      expect(found.result).toBe('created');
    }
  } finally {
    await lock.release();
    await slow.close();
  }
});

/** All, or those of one reason. */
async function lostIn(app: TestApp, reason = '[a-z-]+'): Promise<number> {
  const { text } = await app.call<string>('GET', '/metrics', {
    headers: { Authorization: `Bearer ${app.env.ADMIN_TOKEN}` },
  });
  const counts = text.matchAll(new RegExp(`^exchanges_lost_total\\{reason="${reason}"\\} (\\d+)$`, 'gm'));
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

test('a process that is killed while it writes leaves whole exchanges', async () => {
  const { key } = await issueKey(service, ['account']);
  const { child, url, ended } = await startServiceProcess(service.env);
  let isRunning = true;
  const push = async () => {
    while (isRunning) {
      const accountName = randomUUID();
      const body = JSON.stringify({ accountName });
      const headers = { 'PLATFORM-API-KEY': key, 'Content-Type': 'application/json' };
      await fetch(`${url}/platform-api/v1/accounts`, { method: 'POST', headers, body }).catch(() => undefined);
    }
  };
  const pushing = [push(), push(), push(), push()];
  await eventually(async () => expect((await count()).exchanges).toBeGreaterThan(50));
  child.kill('SIGKILL');
  await ended;
  isRunning = false;
  await Promise.all(pushing);
  const { exchanges, whole } = await count();
  expect(whole).toBe(exchanges);
  expect((await listExchanges(service, { pageSize: '100' })).status).toBe(200);

  async function count() {
    const [row] = await service.dataSource.query<{ exchanges: number; whole: number }[]>(
      `SELECT count(*)::int AS exchanges, count(*) FILTER (WHERE names.found AND response_body IS NOT NULL)::int AS whole
         FROM exchanges e CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM unnest(e.refs) AS r (element)
           WHERE element LIKE 'accountId:%' AND e.response_body LIKE '%' || substr(element, 11) || '%') AS found) AS names
        WHERE key_prefix = $1 AND status = 200`,
      [key.slice(0, 11)],
    );
    return row ?? { exchanges: 0, whole: -1 };
  }
});

const recordOf = (): ExchangeRecord => ({
  id: '',
  direction: 'outbound',
  lane: 'known',
  address: '',
  interface: 'site',
  route: 'getSites',
  method: 'GET',
  path: '/',
  haulerId: null,
  connectionId: null,
  apiKeyId: null,
  keyPrefix: null,
  requestId: null,
  status: 200,
  failure: undefined,
  durationMs: 1,
  requestBytes: 0,
  responseBytes: 0,
  scenario: undefined,
  requestHeaders: {},
  requestBody: undefined,
  input: undefined,
  responseHeaders: {},
  responseBody: undefined,
  inRevision: false,
  references: [],
  secrets: [],
});
