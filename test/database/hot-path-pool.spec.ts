import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { onConnection } from '../../src/database/connection.js';
import { HotPathPool } from '../../src/database/hot-path-pool.js';
import { testEnv } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const FIND = 'SELECT n FROM things WHERE n = ANY ($1::int[]) ORDER BY n';

let database: TestDatabase;
let dataSource: DataSource;
let pool: HotPathPool;
beforeAll(async () => {
  database = await createTestDatabase();
  dataSource = await database.connect();
  await dataSource.query('CREATE TABLE things (n int PRIMARY KEY)');
  pool = new HotPathPool(testEnv({ DATABASE_URL: database.url }));
});
afterAll(async () => {
  await pool.onApplicationShutdown();
  await database.drop();
});

const add = (n: number) => dataSource.query('INSERT INTO things VALUES ($1)', [n]);
const find = (...numbers: number[]) => pool.lend((connection) => connection.query<{ n: number }[]>(FIND, [numbers]));

describe('HotPathPool', () => {
  test('prepares a statement once per connection', async () => {
    await add(1);
    for (let i = 0; i < 3; i++) expect(await find(1, 2)).toEqual([{ n: 1 }]);
    const prepared = await pool.lend((connection) =>
      connection.query<{ uses: number }[]>(
        'SELECT (generic_plans + custom_plans)::int AS uses FROM pg_prepared_statements WHERE statement = $1',
        [FIND],
      ),
    );
    expect(prepared).toEqual([{ uses: 3 }]);
  });

  test('statements sent without waiting for one another are answered in their order', async () => {
    const answers = await pool.lend((connection) =>
      Promise.all([1, 2, 3].map((n) => connection.query(`SELECT ${n} AS n, $1::text AS text`, ['x'.repeat(n)]))),
    );
    expect(answers).toEqual([1, 2, 3].map((n) => [{ n, text: 'x'.repeat(n) }]));
  });

  test('lends two, and a third when one is back', async () => {
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

  test("the ordinary pool's connections are lent as well, and given back", async () => {
    const lent = Array.from({ length: 30 }, (_, n) =>
      onConnection(dataSource, (connection) => connection.query<{ n: number }[]>('SELECT $1::int AS n', [n])),
    );
    expect((await Promise.all(lent)).flat()).toEqual(lent.map((_, n) => ({ n })));
    const broken = onConnection(dataSource, (connection) => connection.query('SELECT 1 / $1::int', [0]));
    await expect(broken).rejects.toMatchObject({ code: '22012' });
    expect(await onConnection(dataSource, (connection) => connection.query(FIND, [[20]]))).toEqual([{ n: 20 }]);
  });

  test('a connection that is lost fails its work and is replaced', async () => {
    const lost = expect(pool.lend((connection) => connection.query('SELECT pg_sleep($1)', [30]))).rejects.toThrow();
    await delay(50);
    await dataSource.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'",
    );
    await lost;
    expect(await find(1)).toEqual([{ n: 1 }]);
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
    await find(1);
    await pool.lend((connection) => connection.query('DEALLOCATE ALL', []));
    await expect(find(1)).rejects.toMatchObject({ code: '26000' });
    expect(await find(1)).toEqual([{ n: 1 }]);
  });
});
