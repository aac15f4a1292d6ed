import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { Database } from '../../../src/database/database.js';
import type { Session } from '../../../src/database/session.js';
import { onConnection } from '../../../src/database/transaction.js';
import { isDatabaseUnavailable } from '../../../src/database/postgres-errors.js';
import { STORAGE, type Storage } from '../../../src/storage/storage.js';
import { videoFileName } from '../../../src/reference-partner/vision/stored-videos.repository.js';
import type { Reply } from '../../support/http.js';
import { DatabaseStage } from '../../support/database-stage.js';
import { eventually } from '../../support/eventually.js';
import { upload } from '../../support/reference-vision.js';
import type { TicketReply } from '../../support/scale-house.js';

let stage: DatabaseStage;
/** Not through the proxy. */
let direct: DataSource;
beforeAll(async () => {
  stage = await DatabaseStage.open();
  direct = await stage.database.connect(3);
});
afterAll(() => stage.close());

/** The number of server processes that wait for a lock. While they wait, they do not notice that their client has gone. */
async function waiting(): Promise<number> {
  const [row] = await direct.query<[{ count: number }]>(
    `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return row.count;
}

const untilOneWaits = () => eventually(async () => expect(await waiting()).not.toBe(0));

/** All connections answer: the service may not have noticed yet that the case before has reset them. */
beforeEach(() =>
  eventually(async () => {
    const { dataSource, app } = stage.service;
    const { hot } = app.get(Database);
    const ask = () => [dataSource.query('SELECT 1'), hot.use((session) => session.query('SELECT 1', []))];
    await Promise.all(Array.from({ length: 10 }, ask).flat());
  }),
);

/** Blocks writes to `table` while `work` runs. */
async function locked(table: string, work: () => Promise<void>): Promise<void> {
  const runner = direct.createQueryRunner();
  await runner.startTransaction();
  await runner.query(`LOCK TABLE ${table} IN EXCLUSIVE MODE`);
  try {
    await work();
  } finally {
    await runner.rollbackTransaction();
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
  const PUSHES = 12;
  let number = 0;
  type Kind = 'with a flow' | 'without flows' | 'with an Idempotency-Key';
  const pushOf = (kind: Kind) => {
    const inboundFlow = { ticketNumber: `R${number++}`, updatedAt: '2026-01-31T08:30:00Z' };
    const body = stage.house.ticket(kind === 'without flows' ? {} : { inboundFlow });
    const headers = { 'Idempotency-Key': `R${number}` };
    return (): Promise<Reply<TicketReply>> => stage.house.push(body, kind === 'with an Idempotency-Key' ? headers : {});
  };

  /** The server goes on with what it has received, also after its client has gone. */
  const untilServerRests = () =>
    eventually(async () => {
      const busy = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle'
        AND query NOT LIKE '%pg_stat_activity%' AND wait_event_type IS DISTINCT FROM 'Client'`;
      expect(await direct.query(busy)).toEqual([]);
    });

  test.each<Kind>(['with a flow', 'without flows', 'with an Idempotency-Key'])(
    '%s: 503, and it is written once at most, alone and in a batch, also when it is sent again',
    async (kind) => {
      const before = await stage.house.count();
      const [first, ...others] = Array.from({ length: PUSHES }, () => pushOf(kind));
      await locked('tickets', async () => {
        const alone = first!();
        await untilOneWaits();
        const replies = Promise.all([alone, ...others.map((push) => push())]);
        let answered = false;
        const all = replies.finally(() => (answered = true));
        // Those that wait for a batch take their turns.
        while (!answered) {
          stage.proxy.reset();
          await delay(50);
        }
        for (const reply of await all) expectUnavailable(reply);
      });
      await untilServerRests();
      expect((await stage.house.count()) - before).toBeLessThanOrEqual(PUSHES);
      if (kind === 'without flows') return;
      for (const push of [first!, ...others]) await eventually(async () => expect((await push()).status).toBe(200));
      expect((await stage.house.count()) - before).toBe(PUSHES);
    },
  );
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
      await untilOneWaits();
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
