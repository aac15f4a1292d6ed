import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { textArray } from '../../src/database/text-array.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

describe('textArray is read by PostgreSQL as what it was', () => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await database.connect();
  });
  afterAll(() => database.drop());

  test.each([
    ['nothing', []],
    ['one text', ['a']],
    ['an empty text and an absent one', ['', null]],
    ['what its text form would escape', ['"', '\\', '{}', ',', 'NULL', ' ', '\n']],
    ['every width of UTF-8', ['ä', '€', '😀', '\u{10ffff}']],
    ['a long one', ['x'.repeat(100_000), null, 'y']],
  ])('%s', async (_name, values: (string | null)[]) => {
    const [row] = await dataSource.query<{ values: unknown }[]>('SELECT $1::text[] AS values', [textArray(values)]);
    expect(row?.values).toEqual(values);
  });
});
