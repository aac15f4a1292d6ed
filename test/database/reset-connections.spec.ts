import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { Database } from '../../src/database/database.js';
import type { Session } from '../../src/database/session.js';
import { onConnection } from '../../src/database/transaction.js';
import { isDatabaseUnavailable } from '../../src/database/postgres-errors.js';
import { TicketService } from '../../src/scale/ticket.service.js';
import { STORAGE, type Storage } from '../../src/storage/storage.js';
import { videoFileName } from '../../src/reference-partner/vision/stored-videos.repository.js';
import type { Reply } from '../support/app.js';
import { DatabaseStage } from '../support/database-stage.js';
import { eventually } from '../support/eventually.js';
import { upload } from '../support/reference-vision.js';
import type { TicketReply } from '../support/scale-house.js';

let stage: DatabaseStage;
/** Not through the proxy. */
let direct: DataSource;
beforeAll(async () => {
  stage = await DatabaseStage.open();
  direct = await stage.database.connect(3);
});
beforeEach(() => void jest.restoreAllMocks());
afterAll(() => stage.close());

/** The server processes that wait for a lock. While they wait, they do not notice that their client has gone. */
async function waiting(): Promise<Set<number>> {
  const rows = await direct.query<{ pid: number }[]>(
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
  );
  return new Set(rows.map(({ pid }) => pid));
}

/** Resolves when other processes wait than before. */
const untilOthersWait = (before = new Set<number>()) =>
  eventually(async () => {
    const now = await waiting();
    expect([...now].filter((pid) => !before.has(pid))).not.toEqual([]);
    return now;
  });

/** All connections answer: the service may not have noticed yet that the case before has reset them. */
beforeEach(() =>
  eventually(async () => {
    const { dataSource, app } = stage.service;
    const { hot } = app.get(Database);
    const ask = () => [dataSource.query('SELECT 1'), hot.use((session) => session.query('SELECT 1', []))];
    await Promise.all(Array.from({ length: 10 }, ask).flat());
  }),
);

/** Blocks writes to `table` while `work` runs. `work` receives a function that ends the block early. */
async function locked(table: string, work: (unlock: () => Promise<void>) => Promise<void>): Promise<void> {
  const runner = direct.createQueryRunner();
  await runner.startTransaction();
  await runner.query(`LOCK TABLE ${table} IN EXCLUSIVE MODE`);
  try {
    await work(() => runner.commitTransaction());
  } finally {
    if (runner.isTransactionActive) await runner.rollbackTransaction();
    await runner.release();
  }
}

function expectUnavailable({ status, headers, body }: Reply<{ readonly error?: unknown }>): void {
  // On a busy machine a push may reach the end of its wait for the lock before its connection is reset.
  const message = expect.stringMatching(
    /^(the service cannot reach its database|another transaction holds the record); try again/,
  );
  expect({ status, error: body.error }).toEqual({ status: 503, error: { code: 'INTERNAL_ERROR', message } });
  expect(headers.get('Retry-After')).toMatch(/^[1-9]\d*$/);
}

describe('a connection that is reset during a statement', () => {
  const SLEEP = 'SELECT pg_sleep($1)';
  const sleep = (connection: Pick<Session, 'query'>) => connection.query(SLEEP, [3]);
  const ASLEEP = 'FROM pg_stat_activity WHERE query = $1 AND datname = current_database()';

  test.each<[string, () => Promise<unknown>]>([
    ['of the ordinary pool', () => onConnection(stage.service.dataSource, sleep)],
    ['of TypeORM', () => stage.service.dataSource.query(SLEEP, [3])],
    ['of the hot path', () => stage.service.app.get(Database).hot.use(sleep)],
  ])('%s: the database is unavailable', async (_, work) => {
    const failure = work().then(
      () => undefined,
      (error: unknown) => error,
    );
    await eventually(async () => expect(await direct.query(`SELECT 1 ${ASLEEP}`, [SLEEP])).toHaveLength(1));
    stage.proxy.reset();
    await direct.query(`SELECT pg_terminate_backend(pid, 5000) ${ASLEEP}`, [SLEEP]);
    expect(isDatabaseUnavailable(await failure)).toBe(true);
  });
});

describe('a push whose connection is reset', () => {
  const BATCH = 10;
  let number = 0;
  type Kind = 'with a flow' | 'without flows' | 'with an Idempotency-Key';
  const push = (kind: Kind): Promise<Reply<TicketReply>> => {
    const inboundFlow = { ticketNumber: `R${number++}`, updatedAt: '2026-01-31T08:30:00Z' };
    const headers: Record<string, string> =
      kind === 'with an Idempotency-Key' ? { 'Idempotency-Key': `R${number}` } : {};
    return stage.house.push(stage.house.ticket(kind === 'without flows' ? {} : { inboundFlow }), headers);
  };

  // Without a key a batch is one statement, which the server commits. With a key it is a transaction, which is rolled back.
  test.each<[Kind, number, number]>([
    ['with a flow', 2, BATCH + 1],
    ['without flows', 2, BATCH + 1],
    ['with an Idempotency-Key', 1, 0],
  ])('%s: 503, and it is written once at most, alone and in a batch', async (kind, running, stored) => {
    const submitted = jest.spyOn(stage.service.app.get(TicketService), 'create');
    const before = await stage.house.count();
    await locked('tickets', async (unlock) => {
      const alone = push(kind);
      await eventually(async () => expect((await waiting()).size).toBe(1));
      const beside = push(kind);
      await eventually(() => expect(submitted).toHaveBeenCalledTimes(2));
      const batch = Array.from({ length: BATCH }, () => push(kind));
      await eventually(() => expect(submitted).toHaveBeenCalledTimes(2 + BATCH));
      const first = await eventually(async () => {
        const now = await waiting();
        expect(now.size).toBe(running);
        return now;
      });
      stage.proxy.reset();
      const queued = [alone, beside].slice(running);
      for (const reply of await Promise.all([alone, beside].slice(0, running))) expectUnavailable(reply);
      await untilOthersWait(first);
      stage.proxy.reset();
      await unlock();
      for (const reply of await Promise.all([...queued, ...batch])) expectUnavailable(reply);
    });
    await eventually(async () => expect((await stage.house.count()) - before).toBeGreaterThanOrEqual(stored));
  });
});

describe('a recording whose connection breaks during its commit keeps its file', () => {
  const COMMIT_LOCK = 4711;
  let minute = 0;

  beforeAll(() =>
    direct.query(`
      CREATE FUNCTION slow_commit() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_advisory_xact_lock_shared(${COMMIT_LOCK}); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER slow_commit AFTER INSERT ON reference_recordings DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION slow_commit()`),
  );

  const uploaded = async (breakIt: () => void): Promise<Reply<{ readonly error?: unknown }>> => {
    const runner = direct.createQueryRunner();
    await runner.startTransaction();
    try {
      await runner.query('SELECT pg_advisory_xact_lock($1)', [COMMIT_LOCK]);
      const reply = upload<{ readonly error?: unknown }>(stage.service, minute++);
      await untilOthersWait();
      breakIt();
      return await reply;
    } finally {
      await runner.rollbackTransaction();
      await runner.release();
    }
  };

  const expectKept = async () => {
    const { id } = await eventually(async () => {
      const ids = await direct.query<{ id: string }[]>('SELECT id FROM reference_recordings ORDER BY id DESC');
      expect(ids).toHaveLength(minute);
      return ids[0]!;
    });
    const storage = stage.service.app.get<Storage>(STORAGE, { strict: false });
    expect(await storage.stat(videoFileName('recordings', id))).toBeDefined();
  };

  test('from an upload of an admin', async () => {
    expectUnavailable(await uploaded(() => stage.proxy.reset()));
    await expectKept();
  });
});
