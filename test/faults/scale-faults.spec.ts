import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { ScaleHouse } from '../support/scale-house.js';

let service: TestApp;
let house: ScaleHouse;
beforeAll(async () => {
  service = await startTestApp();
});
beforeEach(async () => {
  house = await ScaleHouse.open(service);
});
afterAll(() => service.close());

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
  }, 60_000);

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
