import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { countRows } from '../../src/database/count.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
let dataSource: DataSource;
beforeAll(async () => {
  database = await createTestDatabase({ migrated: false });
  dataSource = await database.connect();
});
afterAll(() => database.drop());

const ALL = 'SELECT FROM generate_series(1, $1::integer) AS n';

test.each([
  ['none', ALL, 0, 0],
  ['some', ALL, 3, 3],
  ['200,000: the exact count', ALL, 200_000, 200_000],
  ['more: the estimate of PostgreSQL', ALL, 1_500_000, 1_500_000],
  ['more, with a lower estimate: the counted rows', `${ALL} WHERE n > 0`, 1_500_000, 500_000],
])('%s', async (_, query, given, rows) => {
  expect(await countRows(dataSource, query, [given])).toBe(rows);
});
