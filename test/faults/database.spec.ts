import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { startEmbeddedPostgres } from '../../src/database/embedded/start-embedded-postgres.js';
import { migrate } from '../../src/database/migrate.js';
import { issueKey } from '../support/api-keys.js';
import { type Reply, startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { serverPid } from '../support/embedded-process.js';
import { shortOrLong, tell } from '../support/faults.js';
import { ScaleHouse } from '../support/scale-house.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { createTestDatabase, type TestDatabase, testServer } from '../support/test-database.js';
import { databaseUrl, onServer } from '../support/test-server.js';

const ANSWERED_WITHIN_MS = 5_000;
const BACK_WITHIN_MS = 10_000;
const ROUNDS = shortOrLong(1, 5);
const ROLE = `limited_${randomBytes(6).toString('hex')}`;

let database: TestDatabase;
let proxy: TcpProxy;
let service: TestApp;
let house: ScaleHouse;
let key: string;
let numbers = 0;

const name = () => new URL(database.url).pathname.slice(1);
const asAdmin = (sql: string) => onServer(testServer().adminUrl, (client) => client.query(sql));
const endSessions = () => asAdmin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name()}'`);

beforeAll(async () => {
  database = await createTestDatabase();
  // An ordinary role: no limit holds for superusers.
  await asAdmin(`CREATE ROLE ${ROLE} LOGIN PASSWORD 'x' IN ROLE pg_read_all_data, pg_write_all_data`);
  const server = new URL(database.url);
  proxy = await startTcpProxy({ host: server.hostname, port: Number(server.port) });
  const url = new URL(database.url);
  url.port = String(proxy.port);
  [url.username, url.password] = [ROLE, 'x'];
  service = await startTestApp({ env: { DATABASE_URL: url.href } });
  house = await ScaleHouse.open(service);
  ({ key } = await issueKey(service, ['account', 'site', 'vision'], { haulerId: house.haulerId }));
});
afterEach(async () => {
  proxy.pass();
  await eventually(async () => expect((await everyCall()).map(({ status }) => status)).toEqual(WELL), BACK_WITHIN_MS);
});
afterAll(async () => {
  await service.close();
  await proxy.close();
  await database.drop();
  await asAdmin(`DROP ROLE ${ROLE}`);
});

interface TimedReply extends Reply {
  readonly ms: number;
}

async function timed(call: Promise<Reply<unknown>>): Promise<TimedReply> {
  const started = performance.now();
  const reply = await call;
  return { ...reply, ms: performance.now() - started };
}

const pushTicket = (service_ = service) => {
  const inboundFlow = { ticketNumber: `N${numbers++}`, updatedAt: '2026-01-31T08:30:00Z' };
  return house.push(house.ticket({ inboundFlow }), { 'Idempotency-Key': `N${numbers}` }, service_);
};
const createAccount = (extra: Record<string, string> = {}) =>
  service.call('POST', '/platform-api/v1/accounts', {
    headers: { 'PLATFORM-API-KEY': key, ...extra },
    body: { accountName: `Name ${numbers++}` },
  });

/** One of each kind; all of them need the database. */
const everyCall = () =>
  Promise.all(
    [
      pushTicket(),
      createAccount(),
      createAccount({ 'Idempotency-Key': `K${numbers}` }),
      service.admin('GET', '/tickets'),
      service.admin('GET', '/api-keys'),
      service.call('GET', `/scale-platform/v1/sites?haulerId=${house.haulerId}`, { headers: { 'API-KEY': key } }),
      service.call('GET', '/video-platform/v1/videos?customerId=nobody', { headers: { 'API-KEY': key } }),
      service.call('GET', '/health/ready'),
    ].map(timed),
  );
/** The last but two find nothing, which they can only know from the database. */
const WELL = [200, 200, 200, 200, 200, 404, 404, 200];

function expectAway(replies: readonly TimedReply[]): void {
  for (const { status, headers, body, ms } of replies) {
    expect({ status, body }).toEqual({
      status: 503,
      body: { success: false, error: { code: 'INTERNAL_ERROR', message: expect.any(String) } },
    });
    expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(ms).toBeLessThan(ANSWERED_WITHIN_MS);
  }
}

async function expectAlive(): Promise<void> {
  expect((await service.call('GET', '/health/live')).status).toBe(200);
}

describe('a database that is away: 503 with Retry-After within 5 s, and back without a restart', () => {
  test.each<[string, () => unknown, () => unknown]>([
    ['it refuses connections', () => proxy.cut(), () => proxy.pass()],
    ['it answers no more', () => proxy.freeze(), () => proxy.pass()],
    ['it takes 3 s for every message', () => proxy.pass(3_000), () => proxy.pass()],
    [
      'it has no connection left',
      async () => {
        await asAdmin(`ALTER ROLE ${ROLE} CONNECTION LIMIT 0`);
        await endSessions();
      },
      () => asAdmin(`ALTER ROLE ${ROLE} CONNECTION LIMIT -1`),
    ],
    [
      'it takes no connection to this database',
      async () => {
        await asAdmin(`ALTER DATABASE ${name()} ALLOW_CONNECTIONS false`);
        await endSessions();
      },
      () => asAdmin(`ALTER DATABASE ${name()} ALLOW_CONNECTIONS true`),
    ],
  ])(
    '%s',
    async (_what, breakIt, mendIt) => {
      for (let round = 0; round < ROUNDS; round++) {
        await breakIt();
        try {
          expectAway(await everyCall());
          expectAway(await everyCall());
          await expectAlive();
        } finally {
          await mendIt();
        }
        const mended = performance.now();
        await eventually(
          async () => expect((await everyCall()).map(({ status }) => status)).toEqual(WELL),
          BACK_WITHIN_MS,
        );
        tell('database away', { case: _what, lost: 0, 'ms until back': Math.round(performance.now() - mended) });
      }
    },
    120_000,
  );

  test('a slow one is waited for: 100 ms a message is no failure', async () => {
    proxy.pass(100);
    const replies = await everyCall();
    expect(replies.map(({ status }) => status)).toEqual(WELL);
    for (const { ms } of replies) expect(ms).toBeLessThan(ANSWERED_WITHIN_MS);
  });

  test('a server that has become a standby: what writes is 503, what reads goes on', async () => {
    await asAdmin(`ALTER DATABASE ${name()} SET default_transaction_read_only = on`);
    try {
      await endSessions();
      // The first calls may meet the connections that have just been ended.
      await eventually(async () => expect((await service.admin('GET', '/tickets')).status).toBe(200));
      expectAway(await Promise.all([timed(pushTicket()), timed(createAccount())]));
      expect((await service.admin('GET', '/api-keys')).status).toBe(200);
    } finally {
      await asAdmin(`ALTER DATABASE ${name()} RESET default_transaction_read_only`);
      await endSessions();
    }
  });
});

test('fail-over to a copy of the database: what was acknowledged is there, and it goes on', async () => {
  const [original, copy] = [name(), `${name()}_copy`];
  const before = await pushTicket();
  expect(before.status).toBe(200);
  proxy.cut();
  await endSessions();
  await asAdmin(`CREATE DATABASE ${copy} TEMPLATE ${original}`);
  await asAdmin(`ALTER DATABASE ${original} RENAME TO ${original}_old`);
  await asAdmin(`ALTER DATABASE ${copy} RENAME TO ${original}`);
  expectAway(await everyCall());
  proxy.pass();
  await eventually(async () => expect((await pushTicket()).status).toBe(200), BACK_WITHIN_MS);
  expect(await house.stored(before.body.disposalTicketId)).toMatchObject({ id: before.body.disposalTicketId });
  await asAdmin(`DROP DATABASE ${original}_old`);
});

test('a server that is stopped at once under load, and started again: nothing acknowledged is lost', async () => {
  const dataDir = join(testServer().folder, `crash-${randomBytes(4).toString('hex')}`);
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined };
  const server = await startEmbeddedPostgres({ dataDir, log });
  try {
    await migrate(server.url);
    const own = await startTestApp({ env: { DATABASE_URL: server.url } });
    try {
      const scaleHouse = await ScaleHouse.open(own);
      const acknowledged: string[] = [];
      let running = true;
      let refused = 0;
      let n = 0;
      const pushing = Array.from({ length: 8 }, async () => {
        while (running) {
          const inboundFlow = { ticketNumber: `S${n++}`, updatedAt: '2026-01-31T08:30:00Z' };
          const { status, body } = await scaleHouse.push(scaleHouse.ticket({ inboundFlow }));
          expect([200, 503]).toContain(status);
          if (status === 200) acknowledged.push(body.disposalTicketId);
          else refused++;
          if (status !== 200) await delay(20);
        }
      });
      for (let crash = 0; crash < shortOrLong(2, 8); crash++) {
        await delay(300);
        const before = acknowledged.length;
        process.kill(serverPid(dataDir), 'SIGKILL');
        await eventually(() => expect(acknowledged.length).toBeGreaterThan(before + 20), 20_000);
      }
      running = false;
      await Promise.all(pushing);
      const stored = await onServer(databaseUrl(server.url, 'haulbridge'), (client) =>
        client.query<{ id: string }>('SELECT id FROM tickets'),
      );
      const known = new Set(stored.rows.map(({ id }) => id));
      expect(acknowledged.filter((id) => !known.has(id))).toEqual([]);
      expect(known.size).toBe(stored.rows.length);
      expect(refused).toBeGreaterThan(0);
      tell('kill -9 of PostgreSQL', {
        crashes: shortOrLong(2, 8),
        acknowledged: acknowledged.length,
        refused,
        lost: 0,
      });
    } finally {
      await own.close();
    }
  } finally {
    await server.stop();
  }
}, 120_000);
