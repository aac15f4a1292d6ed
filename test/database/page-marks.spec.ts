import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { countRows } from '../../src/database/count.js';
import { PageMarks } from '../../src/database/page-marks.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const ROWS = 120_000;
const LIST = { sql: 'SELECT id FROM list_rows WHERE hauler = $1', parameters: ['a'] };

let database: TestDatabase;
let dataSource: DataSource;
let marks: PageMarks;
beforeAll(async () => {
  database = await createTestDatabase();
  dataSource = await database.connect(1);
  await dataSource.query('CREATE TABLE list_rows (hauler text, id uuid, PRIMARY KEY (hauler, id))');
  await add('a', ROWS, '-1 hour');
  await add('b', 1_000, '-1 hour');
}, 60_000);
afterAll(() => database.drop());
beforeEach(() => {
  marks = new PageMarks();
});

/** Adds rows of one millisecond after the other, which end at a time relative to now. */
const add = (hauler: string, rows: number, end: string) =>
  dataSource.query(
    `INSERT INTO list_rows SELECT $1, uuidv7((n - $2) * interval '1 millisecond' + $3::interval)
     FROM generate_series(1, $2::int) AS n`,
    [hauler, rows, end],
  );

async function expected(page: number, pageSize: number): Promise<string[]> {
  const rows = await dataSource.query<{ id: string }[]>(
    `${LIST.sql} ORDER BY id DESC LIMIT ${pageSize} OFFSET ${(page - 1) * pageSize}`,
    LIST.parameters,
  );
  return rows.map(({ id }) => id);
}

const read = (page: number, pageSize: number) =>
  marks.page(dataSource, LIST, { page, pageSize, offset: (page - 1) * pageSize });

test.each([
  ['the first', 1, 20],
  ['one before the last mark', 1_000, 20],
  ['one that contains a mark', 700, 100],
  ['one in the middle', ROWS / 40, 20],
  ['one that contains the oldest mark', ROWS / 30 - 1_666, 30],
  ['the last', ROWS / 20, 20],
  ['a last one that is not full', Math.ceil(ROWS / 97), 97],
])('%s page has the rows and the total of the list', async (_which, page, pageSize) => {
  const rows = await expected(page, pageSize);
  expect(rows.length).toBeGreaterThan(0);
  expect(await read(page, pageSize)).toEqual({ ids: rows, total: ROWS });
  // Once more with the marks of the first call.
  expect(await read(page, pageSize)).toEqual({ ids: rows, total: ROWS });
});

test('a page past the end is empty', async () => {
  expect(await read(ROWS / 20 + 1, 20)).toEqual({ ids: [], total: ROWS });
});

test('a list without rows has an empty page', async () => {
  const empty = { ...LIST, parameters: ['nobody'] };
  expect(await marks.page(dataSource, empty, { page: 1, pageSize: 20, offset: 0 })).toEqual({ ids: [], total: 0 });
});

test('rows that are added later are counted and listed first', async () => {
  const last = await read(ROWS / 20, 20);
  await add('a', 30, '0 seconds');
  try {
    expect(await read(1, 20)).toEqual({ ids: await expected(1, 20), total: ROWS + 30 });
    const page = ROWS / 20 + 1;
    expect(await read(page, 20)).toEqual({ ids: await expected(page, 20), total: ROWS + 30 });
    expect((await read(page + 1, 20)).ids).toEqual(last.ids.slice(10));
  } finally {
    await dataSource.query("DELETE FROM list_rows WHERE hauler = 'a' AND id > uuidv7(interval '-30 minutes')");
  }
});

test('a deep page skips rows from a mark only', async () => {
  await read(ROWS / 40, 20);
  const skipped: number[] = [];
  const observed = {
    query: <T>(sql: string, parameters: unknown[]) => {
      skipped.push(Number(/OFFSET (\d+)/.exec(sql)?.[1] ?? 0));
      return dataSource.query<T>(sql, parameters);
    },
  };
  for (const page of [ROWS / 20, ROWS / 40, 1]) {
    await marks.page(observed, LIST, { page, pageSize: 20, offset: (page - 1) * 20 });
  }
  expect(Math.max(...skipped)).toBeLessThan(50_000);
});

const ALL = 'SELECT FROM generate_series(1, $1::integer) AS n';

test.each([
  ['none', ALL, 0, 0],
  ['some', ALL, 3, 3],
  ['200,000: the exact count', ALL, 200_000, 200_000],
  ['more: the estimate of PostgreSQL', ALL, 1_500_000, 1_500_000],
  ['more, with a lower estimate: the counted rows', `${ALL} WHERE n > 0`, 1_500_000, 500_000],
])('the number of rows of a query: %s', async (_, query, given, rows) => {
  expect(await countRows(dataSource, query, [given])).toBe(rows);
});
