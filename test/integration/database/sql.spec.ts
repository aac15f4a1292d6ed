import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Database } from '../../../src/core/database/database.js';
import { deleteInSteps } from '../../../src/core/database/sweep.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

let stage: TestDatabase;
let database: Database;

beforeAll(async () => {
  stage = await createTestDatabase({ migrated: false });
  database = new Database({ DATABASE_URL: stage.url, DATABASE_POOL: 2 });
  await database.change('CREATE TABLE numbers (n integer PRIMARY KEY)');
});

afterAll(async () => {
  await database.onApplicationShutdown();
  await stage.drop();
});

const fill = () => database.change('INSERT INTO numbers SELECT n FROM generate_series(1, 2500) AS n');
const left = async () => (await database.query('SELECT FROM numbers')).length;

it('a deletion in steps deletes more than one step of rows, in a transaction too', async () => {
  const sql = 'DELETE FROM numbers WHERE n IN (SELECT n FROM numbers LIMIT $1)';
  expect(await fill()).toBe(2500);
  await deleteInSteps(database, sql);
  expect(await left()).toBe(0);
  await fill();
  await database.transaction((transaction) => deleteInSteps(transaction, sql));
  expect(await left()).toBe(0);
});

it('a transaction runs again after a deadlock, and its failed attempt leaves nothing', async () => {
  await fill();
  let attempts = 0;
  const result = await database.transaction(async (transaction) => {
    await transaction.change('UPDATE numbers SET n = -n WHERE n = 3');
    attempts += 1;
    if (attempts === 1) await transaction.query("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40P01'; END $$");
    return transaction.query('SELECT n FROM numbers WHERE abs(n) = 3');
  });
  expect(attempts).toBe(2);
  expect(result).toEqual([{ n: -3 }]);
});
