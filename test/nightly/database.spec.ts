import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { startEmbeddedPostgres } from '../../src/embedded-postgres/start-embedded-postgres.js';
import { migrate } from '../../src/database/migrate.js';
import { startTestApp } from '../support/app.js';
import { asAdmin, DatabaseStage, timed, type TimedReply, AVAILABLE_STATUSES } from '../support/database-stage.js';
import { serverPid } from '../support/embedded-process.js';
import { eventually } from '../support/eventually.js';
import { reportFigures } from '../support/faults.js';
import { ScaleHouse } from '../support/scale-house.js';
import { testServer, databaseUrl, onServer } from '../support/test-run.js';

const ANSWERED_WITHIN_MS = 5_000;
const BACK_WITHIN_MS = 10_000;
const ROUNDS = 5;
/** Between two rounds of calls while the database is unavailable: the second meets the state that the first has left. */
const APART_MS = 500;

/** For tests that run concurrently: Jest allows no import, which a service needs at its start, after one of them has ended. */
const stages: DatabaseStage[] = [];

/** Each test has a service and a database of its own. They run concurrently, because most of their time is waiting. */
async function onStage(work: (stage: DatabaseStage) => Promise<void>): Promise<void> {
  const stage = stages.pop() ?? (await DatabaseStage.open());
  try {
    await work(stage);
  } finally {
    await stage.close();
  }
}

const expectAvailable = (stage: DatabaseStage) =>
  eventually(
    async () => expect((await stage.everyCall()).map(({ status }) => status)).toEqual(AVAILABLE_STATUSES),
    BACK_WITHIN_MS,
  );

function expectUnavailable(replies: readonly TimedReply[]): void {
  for (const { status, headers, body, ms } of replies) {
    expect({ status, body }).toEqual({
      status: 503,
      body: { success: false, error: { code: 'INTERNAL_ERROR', message: expect.any(String) } },
    });
    expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(ms).toBeLessThan(ANSWERED_WITHIN_MS);
  }
}

/** Health and the metrics of the process are available, and the metrics of the database are not. */
async function expectAlive({ service }: DatabaseStage): Promise<void> {
  expect((await service.call('GET', '/health/live')).status).toBe(200);
  const headers = { Authorization: `Bearer ${service.env.ADMIN_TOKEN}` };
  const metrics = await timed(service.call('GET', '/metrics', { headers }));
  expect(metrics.status).toBe(200);
  expect(metrics.ms).toBeLessThan(ANSWERED_WITHIN_MS);
  expect(metrics.text).toContain('http_request_duration_seconds_count');
  expect(metrics.text).not.toMatch(/^(?:vision_downloads|work_oldest_due_seconds\{)/m);
}

type Act = (stage: DatabaseStage) => unknown;

const FAULTS: readonly [string, Act, Act][] = [
  ['it refuses connections', ({ proxy }) => proxy.cut(), ({ proxy }) => proxy.pass()],
  ['it does not answer', ({ proxy }) => proxy.freeze(), ({ proxy }) => proxy.pass()],
  ['it takes 3 s for every message', ({ proxy }) => proxy.pass(3_000), ({ proxy }) => proxy.pass()],
  [
    'it has no free connection',
    async (stage) => {
      await asAdmin(`ALTER ROLE ${stage.role} CONNECTION LIMIT 0`);
      await stage.endSessions();
    },
    ({ role }) => asAdmin(`ALTER ROLE ${role} CONNECTION LIMIT -1`),
  ],
  [
    'it allows no connection to this database',
    async (stage) => {
      await asAdmin(`ALTER DATABASE ${stage.name} ALLOW_CONNECTIONS false`);
      await stage.endSessions();
    },
    ({ name }) => asAdmin(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`),
  ],
];

describe('an unavailable database: 503 with Retry-After within 5 s, and recovery without a restart', () => {
  beforeAll(async () => {
    stages.push(...(await Promise.all(Array.from({ length: FAULTS.length + 3 }, () => DatabaseStage.open()))));
  });

  test.concurrent.each(FAULTS)(
    '%s',
    (what, breakIt, repair) =>
      onStage(async (stage) => {
        for (let round = 0; round < ROUNDS; round++) {
          await breakIt(stage);
          try {
            const [first, second] = await Promise.all([
              stage.everyCall(),
              delay(APART_MS).then(() => stage.everyCall()),
            ]);
            expectUnavailable([...first, ...second]);
            await expectAlive(stage);
          } finally {
            await repair(stage);
          }
          const repaired = performance.now();
          await expectAvailable(stage);
          reportFigures('database unavailable', {
            case: what,
            lost: 0,
            'ms until recovery': Math.round(performance.now() - repaired),
          });
        }
      }),
    120_000,
  );

  test.concurrent('a delay of 100 ms per message is no failure', () =>
    onStage(async (stage) => {
      stage.proxy.pass(100);
      const replies = await stage.everyCall();
      expect(replies.map(({ status }) => status)).toEqual(AVAILABLE_STATUSES);
      for (const { ms } of replies) expect(ms).toBeLessThan(ANSWERED_WITHIN_MS);
    }),
  );

  test.concurrent('a server that becomes a standby: writes are 503, reads continue', () =>
    onStage(async (stage) => {
      await asAdmin(`ALTER DATABASE ${stage.name} SET default_transaction_read_only = on`);
      await stage.endSessions();
      // The first calls may use connections that have just been terminated.
      await eventually(async () => expect((await stage.service.admin('GET', '/tickets')).status).toBe(200));
      expectUnavailable(await Promise.all([timed(stage.pushTicket()), timed(stage.createAccount())]));
      expect((await stage.service.admin('GET', '/api-keys')).status).toBe(200);
      await asAdmin(`ALTER DATABASE ${stage.name} RESET default_transaction_read_only`);
      await stage.endSessions();
      await expectAvailable(stage);
    }),
  );

  test.concurrent(
    'it stalls: every caller is answered within 5 s, also one that waits behind others, and service continues afterwards',
    () =>
      onStage(async (stage) => {
        const blocker = stage.service.dataSource.createQueryRunner();
        await blocker.startTransaction();
        await blocker.query('LOCK TABLE tickets IN SHARE ROW EXCLUSIVE MODE');
        const started = performance.now();
        const waves = await Promise.all(
          [0, 100, 300].map(async (wait) => {
            await delay(wait);
            return Promise.all(Array.from({ length: 10 }, () => timed(stage.pushTicket())));
          }),
        );
        expectUnavailable(waves.flat());
        // The calls waited, and were not refused at once.
        expect(performance.now() - started).toBeGreaterThan(3_000);
        await blocker.rollbackTransaction();
        await blocker.release();
        expect((await stage.pushTicket()).status).toBe(200);
      }),
  );
});

test('fail-over to a copy of the database: acknowledged data is there, and service continues', () =>
  onStage(async (stage) => {
    const [original, copy] = [stage.name, `${stage.name}_copy`];
    const before = await stage.pushTicket();
    expect(before.status).toBe(200);
    stage.proxy.cut();
    await stage.endSessions();
    await asAdmin(`CREATE DATABASE ${copy} TEMPLATE ${original}`);
    await asAdmin(`ALTER DATABASE ${original} RENAME TO ${original}_old`);
    await asAdmin(`ALTER DATABASE ${copy} RENAME TO ${original}`);
    expectUnavailable(await stage.everyCall());
    stage.proxy.pass();
    await expectAvailable(stage);
    expect(await stage.house.stored(before.body.disposalTicketId)).toMatchObject({ id: before.body.disposalTicketId });
    await asAdmin(`DROP DATABASE ${original}_old`);
  }));

const CRASHES = 8;

test('an immediate stop of the server under load: nothing acknowledged is lost after its start', async () => {
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
      for (let crash = 0; crash < CRASHES; crash++) {
        await delay(300);
        const killed = serverPid(dataDir);
        process.kill(killed, 'SIGKILL');
        // The server processes of open connections live a little longer. The next server waits for their end.
        await eventually(() => expect(serverPid(dataDir)).not.toBe(killed));
        const before = acknowledged.length;
        await eventually(() => expect(acknowledged.length).toBeGreaterThan(before + 20));
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
      reportFigures('kill -9 of PostgreSQL', {
        crashes: CRASHES,
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
