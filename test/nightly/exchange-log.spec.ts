import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ExchangeLog } from '../../src/exchanges/exchange-log.service.js';
import { issueKey } from '../support/api-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { DatabaseStage } from '../support/database-stage.js';
import { eventually } from '../support/eventually.js';
import { holdTable } from '../support/rows.js';
import { exchangeInFull, listExchanges, newestExchange } from '../support/exchange-scene.js';

let service: TestApp;
let key: string;
beforeAll(async () => {
  service = await startTestApp();
  ({ key } = await issueKey(service, ['account']));
});
afterAll(() => service.close());

const createAccount = (app: TestApp, accountName: unknown, more: object = {}) =>
  app.call('POST', '/platform-api/v1/accounts', {
    headers: { 'PLATFORM-API-KEY': key },
    body: { accountName, ...more },
  });

/** Calls of unknown paths without a key, with long addresses and headers, on four connections until the returned function is called. */
function flood(url: string): () => Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  let isRunning = true;
  let calls = 0;
  const call = () =>
    new Promise<void>((resolve) => {
      const path = `/platform-api/v1/${calls++}${'x'.repeat(6_000)}`;
      const headers = { 'X-Filler': 'y'.repeat(6_000) };
      const one = request(url + path, { agent, headers }, (response) => response.resume().once('close', resolve));
      one.once('error', () => resolve()).end();
    });
  const work = Array.from({ length: 4 }, async () => {
    while (isRunning) await call();
  });
  return async () => {
    isRunning = false;
    await Promise.all(work);
    agent.destroy();
    return calls;
  };
}

const storedOf = async (app: TestApp) => {
  await app.app.get(ExchangeLog).flush();
  const [row] = await app.dataSource.query<{ keyless: string; longest: number }[]>(
    `SELECT count(*) FILTER (WHERE api_key_id IS NULL) AS keyless, max(pg_column_size(e.*))::int AS longest FROM exchanges e`,
  );
  return row;
};

/** The value of a metric, whose name is a pattern, or the sum of several. */
async function metric(app: TestApp, name: string): Promise<number> {
  const { text } = await app.call<string>('GET', '/metrics', {
    headers: { Authorization: `Bearer ${app.env.ADMIN_TOKEN}` },
  });
  const values = [...text.matchAll(new RegExp(`^${name} (\\S+)$`, 'gm'))].map(([, value]) => Number(value));
  expect(values).not.toEqual([]);
  return values.reduce((sum, value) => sum + value, 0);
}

const lost = (app: TestApp, reason = '[a-z-]+') => metric(app, `exchanges_lost_total\\{reason="${reason}"\\}`);

test('callers without a key leave few short lines, and every push with a key is logged', async () => {
  const stop = flood(service.url);
  const names = Array.from({ length: 40 }, (_, i) => `During the flood ${i}`);
  for (const name of names) {
    expect((await createAccount(service, name)).status).toBe(200);
    await delay(20);
  }
  const calls = await stop();
  for (const name of names) {
    const { body } = await listExchanges(service, { reference: `accountName:${name}` });
    expect([name, body.data.length]).toEqual([name, 1]);
  }
  const { keyless, longest } = (await storedOf(service)) ?? {};
  expect(calls).toBeGreaterThan(200);
  expect(Number(keyless)).toBeGreaterThan(0);
  // Two minutes at most.
  expect(Number(keyless)).toBeLessThanOrEqual(120);
  expect(longest).toBeLessThan(4_000);
  expect(await lost(service, 'no-key')).toBe(calls - Number(keyless));
  expect(await lost(service, 'queue-full')).toBe(0);
});

test('as the limit of a day comes near, calls without a key are dropped first, then bodies, then lines', async () => {
  const limit = (await metric(service, 'exchanges_bytes_today')) / 0.8 + 1_000_000;
  const env = { EXCHANGE_MAX_BYTES_PER_DAY: Math.round(limit) };
  const [app, second] = [await startTestApp({ on: service, env }), await startTestApp({ on: service, env })];
  try {
    const used = async () => (await metric(app, 'exchanges_bytes_today')) / limit;
    const found = async (requestId: string | null) =>
      (await listExchanges(app, { requestId: requestId ?? '' })).body.data[0]?.id;
    let created = 0;
    const create = async () => {
      const filler = randomBytes(2_000).toString('base64');
      const { status, headers } = await createAccount(app, `Account ${created++}`, { filler });
      expect(status).toBe(200);
      return headers.get('x-request-id');
    };
    /** The size of the day is read after a batch, at most twice a second. */
    const fill = async (share: number) => {
      while ((await used()) < share) {
        for (let i = 0; i < 20; i++) await create();
        await delay(600);
        await create();
        await app.app.get(ExchangeLog).flush();
        await delay(200);
      }
    };
    await fill(0.8);
    const missed = await app.call('GET', '/platform-api/v1/nothing');
    expect(await found(missed.headers.get('x-request-id'))).toBeUndefined();
    const line = await exchangeInFull(app, { requestId: (await create()) ?? '' });
    expect(line).toMatchObject({ status: 200, result: 'created', requestBytes: expect.any(Number) });
    expect([line.request.body, line.response?.body]).toEqual([undefined, undefined]);
    expect(await metric(app, 'exchanges_without_bodies_total')).toBe(1);
    await fill(1);
    const before = await lost(app, 'day-limit');
    expect(await found(await create())).toBeUndefined();
    expect(await lost(app, 'day-limit')).toBe(before + 1);
    expect(await used()).toBeLessThan(1.1);
    // Another instance knows it from the first batch on.
    await createAccount(second, 'Second 1');
    await second.app.get(ExchangeLog).flush();
    const { headers } = await createAccount(second, 'Second 2');
    expect(await found(headers.get('x-request-id'))).toBeUndefined();
  } finally {
    await app.close();
    await second.close();
  }
});

/** The connections that write the log of this database; other files of the run have theirs on the same server. */
const WRITERS = `FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'haulbridge exchanges'`;

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
    expect(await lost(stage.service)).toBe(0);
  } finally {
    await stage.close();
  }
}, 90_000);

test('a log that cannot keep up loses its oldest exchanges and counts them, and every push is answered', async () => {
  const slow = await startTestApp({ on: service, env: { EXCHANGE_BODY_LIMIT: 1_048_576 } });
  const release = await holdTable(service, 'exchanges');
  try {
    await createAccount(slow, 'Before the lock');
    await eventually(async () => {
      const waiting = await service.dataSource.query<unknown[]>(`SELECT ${WRITERS} AND wait_event_type = 'Lock'`);
      expect(waiting.length).toBeGreaterThan(0);
    });
    const filler = 'x'.repeat(900_000);
    for (let i = 0; i < 40; i++) expect((await createAccount(slow, i, { filler })).status).toBe(400);
    expect((await createAccount(slow, 'During the lock')).status).toBe(200);
    expect(await lost(slow, 'queue-full')).toBeGreaterThan(5);
    await release();
    for (const accountName of ['Before the lock', 'During the lock']) {
      const found = await newestExchange(slow, { reference: `accountName:${accountName}` });
      expect(found.result).toBe('created');
    }
  } finally {
    await slow.close();
  }
});
