import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { setTimeout as delay } from 'node:timers/promises';
import { issueKey } from '../support/api-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';
import type { Reply } from '../support/http.js';
import { eventually } from '../support/eventually.js';
import { reportFigures } from '../support/faults.js';
import { ScaleHouse } from '../support/scale-house.js';

/** Longer than a key is cached, so that pushes need the database for their key as well. */
const LOCKED_MS = 30_000;

let service: TestApp;
let house: ScaleHouse;
let lock: pg.Client;
beforeAll(async () => {
  service = await startTestApp();
});
beforeEach(async () => {
  house = await ScaleHouse.open(service);
});
afterAll(() => service.close());

/** Locks a table on a connection outside of the service. */
async function lockTable(table: string): Promise<void> {
  lock = new pg.Client({ connectionString: service.env.DATABASE_URL });
  await lock.connect();
  await lock.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
}

async function unlock(time: number): Promise<void> {
  await delay(Math.max(0, time - performance.now()));
  await lock.query('ROLLBACK');
}

let pushed = 0;
const push = (headers: Record<string, string> = {}) => {
  const inboundFlow = { ticketNumber: `F${pushed++}`, updatedAt: '2026-01-31T08:30:00Z' };
  return house.push(house.ticket({ inboundFlow }), headers);
};

/** Repeats a call until the time is over, without a pause. */
async function repeat(until: number, call: () => Promise<Reply<unknown>>, pauseMs = 0): Promise<Reply<unknown>[]> {
  const replies: Reply<unknown>[] = [];
  while (performance.now() < until) {
    replies.push(await call());
    await delay(pauseMs);
  }
  return replies;
}

const crowd = async (callers: number, until: number, call: () => Promise<Reply<unknown>>) =>
  (await Promise.all(Array.from({ length: callers }, () => repeat(until, call, 10)))).flat();

const statuses = (replies: readonly Reply<unknown>[]) => [...new Set(replies.map(({ status }) => status))];

describe('tickets and readiness', () => {
  afterEach(() => lock.end());

  test(
    'do not wait for 40 callers that create accounts while the table of accounts is locked',
    async () => {
      const { key } = await issueKey(service, ['account'], { haulerId: house.haulerId });
      let names = 0;
      const create = () =>
        service.call('POST', '/platform-api/v1/accounts', {
          headers: { 'PLATFORM-API-KEY': key },
          body: { accountName: `Locked ${names++}` },
        });
      await lockTable('accounts');
      const until = performance.now() + LOCKED_MS;
      const [created, pushes, ready] = await Promise.all([
        crowd(40, until, create),
        repeat(until, () => push(), 10),
        repeat(until, () => service.call('GET', '/health/ready'), 100),
        unlock(until),
      ]);
      expect(statuses(pushes)).toEqual([200]);
      expect(statuses(ready)).toEqual([200]);
      expect(statuses(created)).toContain(503);
      reportFigures('fair connections: locked accounts', { pushes: pushes.length, 'readiness checks': ready.length });
    },
    LOCKED_MS + 20_000,
  );

  test('and all other calls do not wait for 80 callers of admin lists', async () => {
    const { key } = await issueKey(service, ['account'], { haulerId: house.haulerId });
    let names = 0;
    const create = () =>
      service.call('POST', '/platform-api/v1/accounts', {
        headers: { 'PLATFORM-API-KEY': key },
        body: { accountName: `Free ${names++}` },
      });
    await lockTable('video_requests');
    // Longer than a read waits for its turn.
    const until = performance.now() + 30_000;
    const [lists, created, pushes, ready] = await Promise.all([
      crowd(80, until, () => service.admin('GET', '/video-requests?page=1000')),
      repeat(until, create, 10),
      repeat(until, () => push(), 10),
      repeat(until, () => service.call('GET', '/health/ready'), 100),
      unlock(until),
    ]);
    expect(statuses(created)).toEqual([200]);
    expect(statuses(pushes)).toEqual([200]);
    expect(statuses(ready)).toEqual([200]);
    const refused = lists.filter(({ status }) => status === 503);
    expect(refused.length).toBeGreaterThan(0);
    for (const { headers } of refused) expect(headers.get('retry-after')).toBe('1');
    const headers = { Authorization: `Bearer ${service.env.ADMIN_TOKEN}` };
    const { text } = await service.call('GET', '/metrics', { headers });
    // The reads that got a connection fail at the timeout of their statement.
    const byShare = refused.filter((reply) => reply.text.includes('too many reads of the admin API'));
    expect(byShare.length).toBeGreaterThan(0);
    expect(text).toContain(`overload_refusals_total{reason="admin-reads"} ${byShare.length}`);
    reportFigures('fair connections: admin lists', {
      lists: lists.length,
      pushes: pushes.length,
      accounts: created.length,
    });
  });

  test('without an Idempotency-Key do not wait for one whose key another instance has locked', async () => {
    const key = { 'Idempotency-Key': 'held' };
    expect((await push(key)).status).toBe(200);
    lock = new pg.Client({ connectionString: service.env.DATABASE_URL });
    await lock.connect();
    await lock.query('BEGIN; SELECT FROM idempotency_keys FOR UPDATE');
    const waiting = push(key);
    const until = performance.now() + 1_000;
    const [pushes] = await Promise.all([crowd(8, until, () => push()), unlock(until)]);
    expect(statuses(pushes)).toEqual([200]);
    expect(pushes.length).toBeGreaterThan(16);
    // The same key with another body (decision 16).
    expect((await waiting).status).toBe(422);
  });
});

const ticket = (number: string, updatedAt = '2026-01-31T08:30:00Z') =>
  house.ticket({ inboundFlow: { ticketNumber: number, updatedAt } });

const stored = async (): Promise<string[]> => {
  const rows = await service.dataSource.query<{ id: string }[]>('SELECT id FROM tickets WHERE hauler_id = $1', [
    house.haulerId,
  ]);
  return rows.map(({ id }) => id);
};

/** Terminates the connections of the service except the one that runs this, and their statements. */
const cutConnections = () =>
  service.dataSource.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );

/** Statements that wait for a lock. */
const WAITING = `FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** Makes the database refuse one row of a statement, by a rule that the service does not know. */
async function breaking(number: string, work: () => Promise<void>): Promise<void> {
  await service.dataSource.query(`
    CREATE FUNCTION break_one() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF NEW.inbound_number = '${number}' THEN RAISE EXCEPTION 'broken inside'; END IF; RETURN NEW; END $$;
    CREATE TRIGGER break_one BEFORE INSERT OR UPDATE ON tickets FOR EACH ROW EXECUTE FUNCTION break_one()`);
  try {
    await work();
  } finally {
    await service.dataSource.query('DROP FUNCTION break_one CASCADE');
  }
}

describe('a batch with an element that fails', () => {
  test.each([
    ['without keys', undefined],
    ['with an Idempotency-Key each', 'key'],
  ])('%s: it fails alone, the others are stored and answered', (_what, key) =>
    breaking('bad', async () => {
      const numbers = Array.from({ length: 60 }, (_, i) => (i === 23 ? 'bad' : `good ${i}`));
      const replies = await Promise.all(
        numbers.map((number, i) =>
          house.push(ticket(number), key === undefined ? {} : { 'Idempotency-Key': `${key} ${i}`.replace(' ', '-') }),
        ),
      );
      replies.forEach(({ status, body, text }, i) => {
        expect(status).toBe(numbers[i] === 'bad' ? 500 : 200);
        if (status === 500) expect(body.error?.code).toBe('INTERNAL_ERROR');
        expect(text).not.toContain('broken inside');
      });
      const answered = replies.filter(({ status }) => status === 200).map(({ body }) => body.disposalTicketId);
      expect((await stored()).sort()).toEqual(answered.sort());
    }),
  );

  test('accepts the element once the cause is gone', async () => {
    await breaking('bad', async () => expect((await house.push(ticket('bad'))).status).toBe(500));
    expect((await house.push(ticket('bad'))).headers.get('Ticket-Result')).toBe('created');
  });
});

describe('a database that becomes unavailable', () => {
  test('during pushes: everything acknowledged is stored, everything stored is there once, and service continues', async () => {
    const replies: { status: number; number: string; id: string }[] = [];
    let next = 0;
    let cuts = 0;
    // A cut may meet no running statement.
    const enough = () => cuts >= 6 && new Set(replies.map(({ status }) => status)).size > 1;
    const latest = Date.now() + 20_000;
    const goesOn = () => !enough() && Date.now() < latest;
    const scaleHouse = async () => {
      while (goesOn()) {
        const number = `T${next++}`;
        const { status, body } = await house.push(ticket(number));
        replies.push({ status, number, id: body.disposalTicketId });
      }
    };
    const cutting = async () => {
      while (goesOn()) {
        await delay(150);
        await cutConnections().catch(() => undefined);
        cuts++;
      }
    };
    await Promise.all([cutting(), ...Array.from({ length: 16 }, scaleHouse)]);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 503]));
    const ids = new Set(await stored());
    const acknowledged = replies.filter(({ status }) => status === 200);
    expect(acknowledged.filter(({ id }) => !ids.has(id))).toEqual([]);
    // The caller of a push without a response sends it again: no ticket is stored twice.
    for (const { number } of replies.filter(({ status }) => status === 503)) {
      const again = await house.push(ticket(number));
      expect([again.status, again.headers.get('Ticket-Result')]).toEqual([
        200,
        expect.stringMatching(/created|unchanged/),
      ]);
    }
    expect(await house.count()).toBe(replies.length);
  });

  test('during a statement: 503 with Retry-After, and nothing is written', async () => {
    const blocker = service.dataSource.createQueryRunner();
    await blocker.startTransaction();
    await blocker.query('LOCK TABLE tickets IN EXCLUSIVE MODE');
    let answered = false;
    const replies = Promise.all(Array.from({ length: 20 }, (_, i) => house.push(ticket(`C${i}`))));
    void replies.finally(() => (answered = true));
    // Also the pushes after the first ones.
    while (!answered) {
      await delay(100);
      await service.dataSource.query(`SELECT pg_terminate_backend(pid) ${WAITING}`);
    }
    for (const { status, body, headers } of await replies) {
      expect([status, body.error?.code]).toEqual([503, 'INTERNAL_ERROR']);
      expect(headers.get('Retry-After')).toMatch(/^\d+$/);
    }
    await blocker.rollbackTransaction();
    await blocker.release();
    expect(await stored()).toEqual([]);
  });
});

test('a stop waits until pushes in progress are written and answered', async () => {
  const second = await startTestApp({ on: service });
  const blocker = service.dataSource.createQueryRunner();
  await blocker.startTransaction();
  await blocker.query('LOCK TABLE tickets IN EXCLUSIVE MODE');
  const reply = house.push(ticket('last'), {}, second);
  await eventually(async () => expect(await service.dataSource.query(`SELECT pid ${WAITING}`)).toHaveLength(1));
  const closed = second.app.close();
  await delay(200);
  await blocker.rollbackTransaction();
  await blocker.release();
  expect((await reply).headers.get('Ticket-Result')).toBe('created');
  second.app.getHttpServer().closeAllConnections();
  await closed;
  expect(await stored()).toHaveLength(1);
});

test('no request holds a connection while it waits: two connections serve any number of pushes', async () => {
  const small = await startTestApp({ env: { DATABASE_POOL: 2 } });
  try {
    const scaleHouse = await ScaleHouse.open(small);
    const replies = await Promise.all(
      Array.from({ length: 300 }, (_, i) =>
        scaleHouse.push(
          scaleHouse.ticket({ inboundFlow: { ticketNumber: `P${i}`, updatedAt: '2026-01-31T08:30:00Z' } }),
          i % 3 === 0 ? { 'Idempotency-Key': `P${i}` } : {},
        ),
      ),
    );
    expect(replies.filter(({ status }) => status !== 200)).toEqual([]);
    expect(await scaleHouse.count()).toBe(300);
  } finally {
    await small.close();
  }
});
