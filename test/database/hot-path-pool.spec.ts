import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { onConnection, type SharedConnection } from '../../src/database/connection.js';
import { HotPathPool } from '../../src/database/hot-path-pool.js';
import { testEnv } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const FIND = 'SELECT n FROM things WHERE n = ANY ($1::int[]) ORDER BY n';

let database: TestDatabase;
let dataSource: DataSource;
let pool: HotPathPool;
beforeAll(async () => {
  database = await createTestDatabase();
  dataSource = await database.connect();
  await dataSource.query('CREATE TABLE things (n int PRIMARY KEY)');
  await dataSource.query('INSERT INTO things VALUES (1)');
  pool = new HotPathPool(testEnv({ DATABASE_URL: database.url }));
});
afterAll(async () => {
  await pool.onApplicationShutdown();
  await database.drop();
});

const find = (...numbers: number[]) => findBy(pool, ...numbers);
const findBy = (of: HotPathPool, ...numbers: number[]) =>
  of.lend((connection) => connection.query<{ n: number }[]>(FIND, [numbers]));

describe('HotPathPool', () => {
  test('prepares a statement once per connection', async () => {
    const other = new HotPathPool(testEnv({ DATABASE_URL: database.url }));
    for (let i = 0; i < 3; i++) expect(await findBy(other, 1, 2)).toEqual([{ n: 1 }]);
    const prepared = await other.lend((connection) =>
      connection.query<{ uses: number }[]>(
        'SELECT (generic_plans + custom_plans)::int AS uses FROM pg_prepared_statements WHERE statement = $1',
        [FIND],
      ),
    );
    expect(prepared).toEqual([{ uses: 3 }]);
    await other.onApplicationShutdown();
  });

  test('statements sent without waiting for one another are answered in their order', async () => {
    const answers = await pool.lend((connection) =>
      Promise.all([1, 2, 3].map((n) => connection.query(`SELECT ${n} AS n, $1::text AS text`, ['x'.repeat(n)]))),
    );
    expect(answers).toEqual([1, 2, 3].map((n) => [{ n, text: 'x'.repeat(n) }]));
  });

  test('lends two, and a third when one is back', async () => {
    // Of two that have yet to be opened, either may be the first.
    await Promise.all([find(1), find(1)]);
    const lent: string[] = [];
    const holds = ['a', 'b', 'c'].map((name) => {
      const returned = Promise.withResolvers<void>();
      const done = pool.lend(() => {
        lent.push(name);
        return returned.promise;
      });
      return { back: () => returned.resolve(), done };
    });
    await eventually(() => expect(lent).toHaveLength(2));
    await delay(30);
    expect(lent).toEqual(['a', 'b']);
    holds[0]?.back();
    await eventually(() => expect(lent).toHaveLength(3));
    for (const { back } of holds) back();
    await Promise.all(holds.map(({ done }) => done));
    expect(lent).toEqual(['a', 'b', 'c']);
  });

  test('a transaction is committed as a whole, or not at all', async () => {
    const insert = 'INSERT INTO things VALUES ($1)';
    await pool.lend((connection) =>
      connection.transaction(async () => {
        await connection.query(insert, [10]);
        await connection.query(insert, [11]);
      }),
    );
    const broken = pool.lend((connection) =>
      connection.transaction(async () => {
        await connection.query(insert, [12]);
        await connection.query(insert, [10]);
      }),
    );
    await expect(broken).rejects.toMatchObject({ code: '23505' });
    expect(await find(10, 11, 12)).toEqual([{ n: 10 }, { n: 11 }]);
  });

  test('statements in one go are one transaction, and give the rows of the last', async () => {
    const insert = 'INSERT INTO things VALUES ($1)';
    expect(await pool.lend((connection) => connection.inOneGo([insert, [20]], [FIND, [[20, 21]]]))).toEqual([
      { n: 20 },
    ]);
    const broken = pool.lend((connection) => connection.inOneGo([insert, [21]], [insert, [20]], [FIND, [[21]]]));
    await expect(broken).rejects.toMatchObject({ code: '23505' });
    expect(await find(20, 21)).toEqual([{ n: 20 }]);
  });

  test('statements in one go join the transaction under way', async () => {
    const insert = 'INSERT INTO things VALUES ($1)';
    const broken = pool.lend((connection) =>
      connection.transaction(async () => {
        expect(await connection.inOneGo([insert, [25]], [FIND, [[25]]])).toEqual([{ n: 25 }]);
        throw new Error('after all');
      }),
    );
    await expect(broken).rejects.toThrow('after all');
    expect(await find(25)).toEqual([]);
  });

  test("the ordinary pool's connections are lent as well, and given back", async () => {
    const lent = Array.from({ length: 30 }, (_, n) =>
      onConnection(dataSource, (connection) => connection.query<{ n: number }[]>('SELECT $1::int AS n', [n])),
    );
    expect((await Promise.all(lent)).flat()).toEqual(lent.map((_, n) => ({ n })));
    const broken = onConnection(dataSource, (connection) => connection.query('SELECT 1 / $1::int', [0]));
    await expect(broken).rejects.toMatchObject({ code: '22012' });
    expect(await onConnection(dataSource, (connection) => connection.query(FIND, [[1]]))).toEqual([{ n: 1 }]);
  });

  test('a connection that is lost fails its work and is replaced', async () => {
    const lost = expect(pool.lend((connection) => connection.query('SELECT pg_sleep($1)', [30]))).rejects.toThrow();
    await delay(50);
    await dataSource.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND datname = current_database()",
    );
    await lost;
    expect(await find(1)).toEqual([{ n: 1 }]);
  });

  describe('shared', () => {
    const PID = 'SELECT pg_backend_pid() AS pid';
    const INSERT = 'INSERT INTO things VALUES ($1)';
    const pidOf = async (connection: SharedConnection) => (await connection.query<[{ pid: number }]>(PID, []))[0].pid;
    /** Keeps the connection until it is told to give it back. */
    const holding = (how: 'share' | 'lend') => {
      const returned = Promise.withResolvers<void>();
      const got = Promise.withResolvers<number>();
      const done = pool[how](async (connection) => {
        got.resolve(await pidOf(connection));
        await returned.promise;
      });
      return { pid: got.promise, back: () => (returned.resolve(), done) };
    };
    const waitingFor = async (query: string) => {
      const [row] = await dataSource.query<{ pid: number }[]>(
        "SELECT pid FROM pg_stat_activity WHERE query LIKE $1 AND state = 'active' AND datname = current_database() AND pid <> pg_backend_pid()",
        [query],
      );
      return row?.pid;
    };

    test('all who share have one connection, and leave the others to whoever wants one alone', async () => {
      const sharing = [holding('share'), holding('share'), holding('share')];
      const alone = holding('lend');
      const pids = await Promise.all(sharing.map(({ pid }) => pid));
      expect(new Set(pids).size).toBe(1);
      expect(pids).not.toContain(await alone.pid);
      await Promise.all([...sharing, alone].map(({ back }) => back()));
    });

    test('it is kept when nobody uses it, and lost ones are replaced before anyone notices', async () => {
      const pid = await pool.share(pidOf);
      expect(await pool.share(pidOf)).toBe(pid);
      await dataSource.query('SELECT pg_terminate_backend($1)', [pid]);
      const alive = 'SELECT FROM pg_stat_activity WHERE pid = $1';
      await eventually(async () => expect(await dataSource.query(alive, [pid])).toEqual([]));
      // It has said goodbye; that is read in this turn of the event loop.
      await turn();
      expect(await pool.share(pidOf)).not.toBe(pid);
    });

    test('a pool that is shut down has it back from the last who uses it', async () => {
      const other = new HotPathPool(testEnv({ DATABASE_URL: database.url }));
      const answer = other.share((connection) => connection.query('SELECT 1 AS n FROM pg_sleep($1)', [0.1]));
      await other.onApplicationShutdown();
      expect(await answer).toEqual([{ n: 1 }]);
      await expect(other.share(pidOf)).rejects.toThrow(/pool/);
    });

    test('where no connection can be had all who want it are told, and those who come later have one', async () => {
      const url = new URL(database.url);
      const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
      url.port = String(proxy.port);
      const other = new HotPathPool(testEnv({ DATABASE_URL: url.href }));
      proxy.cut();
      const refused = await Promise.allSettled([other.share(pidOf), other.share(pidOf)]);
      expect(refused).toEqual(
        refused.map(() => ({
          status: 'rejected',
          reason: expect.objectContaining({ name: 'DatabaseConnectionError' }),
        })),
      );
      proxy.pass();
      expect(await other.share(pidOf)).toEqual(expect.any(Number));
      await other.onApplicationShutdown();
      await proxy.close();
    });

    test('what fails among the statements of others fails alone', async () => {
      const answered: string[] = [];
      const one = (name: string, work: (connection: SharedConnection) => Promise<unknown>) =>
        pool.share(work).then(
          () => answered.push(name),
          () => answered.push(`${name} failed`),
        );
      await Promise.all([
        one('slow', (connection) => connection.query('SELECT pg_sleep($1)', [0.1])),
        one('broken', (connection) => connection.inOneGo([INSERT, [30]], [INSERT, [30]], [INSERT, [31]])),
        one('whole', (connection) => connection.inOneGo([INSERT, [32]], [INSERT, [33]])),
        one('single', (connection) => connection.query(INSERT, [34])),
      ]);
      expect(answered.toSorted()).toEqual(['broken failed', 'single', 'slow', 'whole']);
      expect(await find(30, 31, 32, 33, 34)).toEqual([{ n: 32 }, { n: 33 }, { n: 34 }]);
    });

    test('when it is lost all who use it fail, and who comes then has a new one', async () => {
      const sleeping = expect(
        pool.share((connection) => connection.query('SELECT pg_sleep($1)', [30])),
      ).rejects.toThrow();
      const behind = expect(pool.share(pidOf)).rejects.toThrow();
      const lost = await eventually(async () => {
        const pid = await waitingFor('SELECT pg_sleep%');
        expect(pid).toBeDefined();
        return pid;
      });
      const holder = holding('lend');
      await dataSource.query('SELECT pg_terminate_backend($1)', [lost]);
      await Promise.all([sleeping, behind]);
      expect(await pool.share(pidOf)).not.toBe(lost);
      await holder.back();
    });

    test('who still uses a lost one does not keep others from a new one', async () => {
      const holder = holding('share');
      const pid = await holder.pid;
      await dataSource.query('SELECT pg_terminate_backend($1)', [pid]);
      await eventually(async () => expect(await pool.share(pidOf).catch(() => pid)).not.toBe(pid));
      await holder.back();
    });

    test('where preparing a statement failed, those behind it fail too, and it is prepared the next time', async () => {
      await dataSource.query('CREATE TABLE locked (n int)');
      const select = 'SELECT n FROM locked WHERE n = $1';
      const query = () => pool.share((connection) => connection.query(select, [1]));
      await dataSource.transaction(async (manager) => {
        await manager.query('LOCK TABLE locked IN ACCESS EXCLUSIVE MODE');
        const cancelled = expect(query()).rejects.toMatchObject({ code: '57014' });
        const behind = expect(query()).rejects.toMatchObject({ code: '26000' });
        await eventually(async () => expect(await waitingFor(select)).toBeDefined());
        await dataSource.query('SELECT pg_cancel_backend($1)', [await waitingFor(select)]);
        await Promise.all([cancelled, behind]);
      });
      const prepared = await pool.share(async (connection) => {
        await connection.query(select, [1]);
        return connection.query('SELECT statement FROM pg_prepared_statements WHERE statement = $1', [select]);
      });
      expect(prepared).toEqual([{ statement: select }]);
    });
  });

  test('a plan that was made for an almost empty table is not kept', async () => {
    const plan = () =>
      pool.lend(async (connection) => {
        await connection.query(FIND, [[1]]);
        const [{ name }] = await connection.query<[{ name: string }]>(
          'SELECT name FROM pg_prepared_statements WHERE statement = $1',
          [FIND],
        );
        const lines = await connection.query<Record<string, string>[]>(`EXPLAIN EXECUTE ${name}('{1}')`, []);
        return lines.map((line) => line['QUERY PLAN']).join('\n');
      });
    await dataSource.query('VACUUM ANALYZE things');
    await delay(1100);
    expect(await plan()).toContain('Seq Scan');
    await dataSource.query('INSERT INTO things SELECT generate_series(1000, 60000)');
    await delay(1100);
    expect(await plan()).not.toContain('Seq Scan');
  });

  test('behind a pooler that swaps connections it goes on without prepared statements', async () => {
    // A process that has learnt of one prepares nothing any more.
    jest.resetModules();
    const anew = await import('../../src/database/hot-path-pool.js');
    const other = new anew.HotPathPool(testEnv({ DATABASE_URL: database.url }));
    await findBy(other, 1);
    await other.lend((connection) => connection.query('DEALLOCATE ALL', []));
    await expect(findBy(other, 1)).rejects.toMatchObject({ code: '26000' });
    expect(await findBy(other, 1)).toEqual([{ n: 1 }]);
    await other.onApplicationShutdown();
  });
});
