import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { instantSql } from '../../src/database/instant-sql.js';
import { type ElementType, sqlArray } from '../../src/database/sql-array.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

describe('an array is read by PostgreSQL as what it was', () => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await database.connect();
  });
  afterAll(() => database.drop());

  test.each<[string, ElementType, (string | null)[]]>([
    ['nothing', 'text', []],
    ['one text', 'text', ['a']],
    ['an empty text and an absent one', 'text', ['', null]],
    ['what its text form would escape', 'text', ['"', '\\', '{}', ',', 'NULL', ' ', '\n']],
    ['every width of UTF-8', 'text', ['ä', '€', '😀', '\u{10ffff}']],
    ['a long one', 'text', ['x'.repeat(100_000), null, 'y']],
    ['no numbers', 'integer', []],
    ['numbers', 'integer', ['1', null, '0', '-1', '2147483647', '-2147483648']],
    ['UUIDs', 'uuid', ['019a9a3e-5b7c-7def-8123-456789abcdef', null, '00000000-0000-0000-0000-000000000000']],
    ['the largest UUID', 'uuid', ['ffffffff-ffff-ffff-ffff-ffffffffffff']],
    ['the years that are usual', 'timestamptz', ['2026-01-31T08:52:11.250000Z', null, '1999-12-31T23:59:59.999999Z']],
    ['the middle of all years', 'timestamptz', ['2000-01-01T00:00:00.000000Z', '2000-01-01T00:00:00.000001Z']],
    [
      'the last whole numbers of JavaScript',
      'timestamptz',
      ['1714-08-06T00:12:25.259009Z', '2285-06-05T23:47:34.740991Z'],
    ],
    ['those beyond', 'timestamptz', ['1714-08-06T00:12:25.259008Z', '2285-06-05T23:47:34.740993Z']],
    ['the first and the last year', 'timestamptz', ['0001-01-01T00:00:00.000001Z', '9999-12-31T23:59:59.999999Z']],
    ['days of leap years', 'timestamptz', ['2000-02-29T12:00:00.123456Z', '1600-02-29T12:00:00.123456Z']],
  ])('%s', async (_name, type, values) => {
    const read = type === 'timestamptz' ? instantSql('value') : 'value::text';
    const rows = await dataSource.query<{ value: string | null }[]>(
      `SELECT ${read} AS value FROM unnest($1::${type}[]) WITH ORDINALITY AS given (value, n) ORDER BY n`,
      [sqlArray(type, values)],
    );
    expect(rows.map(({ value }) => value)).toEqual(values);
  });

  test.each<[ElementType, string]>([
    ['uuid', 'no-uuid'],
    ['uuid', '019a9a3e-5b7c-7def-8123-456789abcdeg'],
    ['uuid', '019a9a3e-5b7c-7def-8123-456789abcde'],
    ['uuid', '019a9a3e-5b7c-7def-8123-456789abcdeff'],
    ['uuid', '019a9a3e05b7c-7def-8123-456789abcdef'],
    ['uuid', '019a9a3\u0130-5b7c-7def-8123-456789abcdef'],
    ['timestamptz', 'yesterday'],
  ])('what is no %s is refused: %s', (type, value) => {
    expect(() => sqlArray(type, [value])).toThrow(value);
  });
});
