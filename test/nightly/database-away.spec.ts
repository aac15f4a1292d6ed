import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { migrate } from '../../src/core/database/migrate.js';
import { startEmbeddedPostgres } from '../../src/embedded-postgres/start-embedded-postgres.js';
import { issueKey } from '../support/api-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { serverPid } from '../support/embedded-process.js';
import { eventually } from '../support/eventually.js';
import { reportFigures } from '../support/faults.js';
import type { Reply } from '../support/http.js';
import { holdTable, rowsOf } from '../support/rows.js';
import { ScaleHouse } from '../support/scale-house.js';
import { testServer } from '../support/test-run.js';
import { asAdmin, AVAILABLE_STATUSES, DatabaseStage, timed, type TimedReply } from '../support/database-stage.js';

/** `acceptance/faults/database-away` has the short form. The statements here act on the server, and name no table of ours. */
const ANSWERED_WITHIN_MS = 5_000;
const BACK_WITHIN_MS = 10_000;

/** Each test has a service and a database of its own. They run concurrently, because most of their time is waiting. */
const stages: DatabaseStage[] = [];

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

type Act = (stage: DatabaseStage) => unknown;

const FAULTS: readonly [string, Act, Act][] = [
  [
    'has no free connection',
    async (stage) => {
      await asAdmin(`ALTER ROLE ${stage.role} CONNECTION LIMIT 0`);
      await stage.endSessions();
    },
    ({ role }) => asAdmin(`ALTER ROLE ${role} CONNECTION LIMIT -1`),
  ],
  [
    'allows no connection to this database',
    async (stage) => {
      await asAdmin(`ALTER DATABASE ${stage.name} ALLOW_CONNECTIONS false`);
      await stage.endSessions();
    },
    ({ name }) => asAdmin(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`),
  ],
];

/** Jest starts the concurrent tests of a file after its own hooks, and before those of a `describe`. */
beforeAll(async () => {
  for (let n = 0; n < FAULTS.length + 1; n++) stages.push(await DatabaseStage.open());
}, 120_000);
afterAll(() => Promise.all(stages.map((stage) => stage.close())));

describe('a database that', () => {
  test.concurrent.each(FAULTS)(
    '%s: every call is 503 with Retry-After within 5 s, and served again',
    (_what, breakIt, repair) =>
      onStage(async (stage) => {
        await breakIt(stage);
        try {
          expectUnavailable(await stage.everyCall());
        } finally {
          await repair(stage);
        }
        await expectAvailable(stage);
      }),
    180_000,
  );

  test.concurrent('stalls: callers that wait behind others are answered within 5 s too, and then served', () =>
    onStage(async (stage) => {
      const release = await holdTable(stage.service, 'tickets', 'SHARE ROW EXCLUSIVE');
      const waves = [0, 100, 300].map(async (wait) => {
        await delay(wait);
        return Promise.all(Array.from({ length: 10 }, () => timed(stage.pushTicket())));
      });
      const replies = (await Promise.all(waves)).flat();
      expectUnavailable(replies);
      // The calls waited, and were not refused at once.
      expect(Math.max(...replies.map(({ ms }) => ms))).toBeGreaterThan(2_000);
      await release();
      expect((await stage.pushTicket()).status).toBe(200);
    }),
  );
});

test('a server that is killed 8 times under load: nothing acknowledged is lost after its start', async () => {
  const dataDir = join(testServer().folder, `crash-${randomBytes(4).toString('hex')}`);
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined };
  const server = await startEmbeddedPostgres({ dataDir, log });
  await migrate(server.url);
  const own = await startTestApp({ env: { DATABASE_URL: server.url } });
  try {
    const house = await ScaleHouse.open(own);
    const acknowledged: string[] = [];
    let [running, refused, n] = [true, 0, 0];
    const pushing = Array.from({ length: 8 }, async () => {
      while (running) {
        const inboundFlow = { ticketNumber: `S${n++}`, updatedAt: '2026-01-31T08:30:00Z' };
        const { status, body } = await house.push(house.ticket({ inboundFlow }));
        expect([200, 503]).toContain(status);
        if (status === 200) acknowledged.push(body.disposalTicketId);
        else refused++;
        if (status !== 200) await delay(20);
      }
    });
    for (let crash = 0; crash < 8; crash++) {
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
    const stored = (await rowsOf<{ id: string }>(own, 'tickets', 'id')).map(({ id }) => id);
    const known = new Set(stored);
    expect(acknowledged.filter((id) => !known.has(id))).toEqual([]);
    expect(known.size).toBe(stored.length);
    expect(refused).toBeGreaterThan(0);
    reportFigures('kill -9 of PostgreSQL', { acknowledged: acknowledged.length, refused, lost: 0 });
  } finally {
    await own.close();
    await server.stop();
  }
}, 180_000);

/** What one caller locks or reads delays nobody else (decision 73). Longer than a key is cached: pushes need it anew. */
describe('pushes and readiness do not wait', () => {
  const LOCKED_MS = 30_000;
  let service: TestApp;
  let house: ScaleHouse;
  let key: string;
  beforeAll(async () => {
    service = await startTestApp();
    house = await ScaleHouse.open(service);
    ({ key } = await issueKey(service, ['account'], { haulerId: house.haulerId }));
  });
  afterAll(() => service.close());

  let n = 0;
  const push = () =>
    house.push(house.ticket({ inboundFlow: { ticketNumber: `F${n++}`, updatedAt: '2026-01-31T08:30:00Z' } }));
  const create = () =>
    service.call('POST', '/platform-api/v1/accounts', {
      headers: { 'PLATFORM-API-KEY': key },
      body: { accountName: `Name ${n++}` },
    });

  /** Locks the table, and returns the answers to all calls meanwhile. */
  async function whileLocked(table: string, calls: readonly (readonly [number, () => Promise<Reply<unknown>>])[]) {
    const release = await holdTable(service, table);
    const until = performance.now() + LOCKED_MS;
    const answers = calls.map(async ([callers, call]) => {
      const replies: Reply<unknown>[] = [];
      const repeat = async () => {
        for (; performance.now() < until; await delay(10)) replies.push(await call());
      };
      await Promise.all(Array.from({ length: callers }, repeat));
      return replies;
    });
    await delay(LOCKED_MS);
    await release();
    return Promise.all(answers);
  }
  const statuses = (replies: readonly Reply<unknown>[] = []) => [...new Set(replies.map(({ status }) => status))];
  const ready = () => service.call('GET', '/health/ready');

  test('for 40 callers that create accounts while the table of accounts is locked', async () => {
    const [created, ...others] = await whileLocked('accounts', [
      [40, create],
      [1, push],
      [1, ready],
    ]);
    expect(others.map(statuses)).toEqual([[200], [200]]);
    expect(statuses(created)).toContain(503);
  }, 90_000);

  test('for 80 callers of an admin list whose table is locked, and neither do accounts', async () => {
    const [lists, ...others] = await whileLocked('video_requests', [
      [80, () => service.admin('GET', '/video-requests?page=1000')],
      [1, push],
      [1, create],
      [1, ready],
    ]);
    expect(others.map(statuses)).toEqual([[200], [200], [200]]);
    const refused = (lists ?? []).filter(({ status }) => status === 503);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.filter(({ headers }) => headers.get('retry-after') !== '1')).toEqual([]);
  }, 90_000);
});
