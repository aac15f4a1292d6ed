import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { DataSource, EntityManager } from 'typeorm';
import { SQLSTATE, sqlState } from '../../../src/database/postgres-errors.js';
import { inTransaction } from '../../../src/database/transaction.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

/** The SQL here is about transactions and a table of the tests' own. */
let database: TestDatabase;
let dataSource: DataSource;

beforeAll(async () => {
  database = await createTestDatabase({ migrated: false });
  dataSource = await database.connect(3);
  await dataSource.query('CREATE TABLE counters (id int PRIMARY KEY, value int NOT NULL)');
});
afterAll(() => database.drop());
beforeEach(async () => {
  await dataSource.query('TRUNCATE counters');
  await dataSource.query('INSERT INTO counters VALUES (1, 0), (2, 0)');
});

const add = (manager: EntityManager, id: number) =>
  manager.query('UPDATE counters SET value = value + 1 WHERE id = $1', [id]);
const values = async () =>
  (await dataSource.query<{ value: number }[]>('SELECT value FROM counters ORDER BY id')).map(({ value }) => value);

/** Resolves for each caller once `count` callers have called it. */
function barrier(count: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  return () => {
    if (--count <= 0) resolve();
    return promise;
  };
}

test('a transaction that waits for a paused instance is ended by the server when others may take over its work', async () => {
  const [row] = await dataSource.query<[{ timeout: string }]>(
    "SELECT current_setting('idle_in_transaction_session_timeout') AS timeout",
  );
  expect(row.timeout).toBe('10s');
});

describe('inTransaction', () => {
  test('rolls back if the work fails, and throws its error', async () => {
    const failure = new Error('no');
    const work = inTransaction(dataSource, async (manager) => {
      await add(manager, 1);
      throw failure;
    });
    await expect(work).rejects.toBe(failure);
    expect(await values()).toEqual([0, 0]);
  });

  test('runs the victim of a deadlock again', async () => {
    const both = barrier(2);
    const committed = Promise.withResolvers<void>();
    let runs = 0;
    const crosswise = async (first: number, second: number) => {
      await inTransaction(dataSource, async (manager) => {
        runs++;
        // The row of the victim is free for a moment. Without the wait, the next run could take it and deadlock once more.
        if (runs > 2) await committed.promise;
        await add(manager, first);
        await both();
        await add(manager, second);
      });
      committed.resolve();
    };
    await Promise.all([crosswise(1, 2), crosswise(2, 1)]);
    expect(runs).toBe(3);
    expect(await values()).toEqual([2, 2]);
  });

  test('runs again after a serialization failure', async () => {
    const both = barrier(2);
    const increment = () =>
      inTransaction(dataSource, async (manager) => {
        await manager.query('SET TRANSACTION ISOLATION LEVEL SERIALIZABLE');
        const [row] = await manager.query<{ value: number }[]>('SELECT value FROM counters WHERE id = 1');
        await both();
        await manager.query('UPDATE counters SET value = $1 WHERE id = 1', [(row?.value ?? 0) + 1]);
      });
    await Promise.all([increment(), increment()]);
    expect(await values()).toEqual([2, 0]);
  });

  test('gives up after five attempts', async () => {
    let runs = 0;
    const work = inTransaction(dataSource, async (manager) => {
      runs++;
      await manager.query("DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END $$");
    });
    await expect(work).rejects.toThrow('again');
    expect(runs).toBe(5);
  });

  test('does not run again after any other error', async () => {
    let runs = 0;
    const work = inTransaction(dataSource, async (manager) => {
      runs++;
      await manager.query('INSERT INTO counters VALUES (1, 0)');
    });
    const error: unknown = await work.catch((reason: unknown) => reason);
    expect(sqlState(error)).toBe(SQLSTATE.uniqueViolation);
    expect(runs).toBe(1);
  });

  test('limits a statement to the given timeout, for this transaction only', async () => {
    const slow = inTransaction(dataSource, (manager) => manager.query('SELECT pg_sleep(5)'), {
      statementTimeoutMs: 50,
    });
    expect(sqlState(await slow.catch((reason: unknown) => reason))).toBe(SQLSTATE.queryCanceled);
    for (let i = 0; i < 3; i++) {
      expect(await dataSource.query('SHOW statement_timeout')).toEqual([{ statement_timeout: '4s' }]);
    }
  });
});
