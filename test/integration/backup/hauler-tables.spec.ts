import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TABLE_FATES } from '../../../src/backup/hauler-tables.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { onServer } from '../../support/test-run.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const query = <Row extends object>(sql: string): Promise<Row[]> =>
  onServer(database.url, async (client) => (await client.query<Row>(sql)).rows);

test('every table moves with a hauler or stays, with a reason: add a new one to src/backup/hauler-tables.ts', async () => {
  const columns = await query<{ table: string; column: string; type: string }>(
    `SELECT c.table_name AS table, c.column_name AS column, c.data_type AS type
       FROM information_schema.columns c JOIN pg_class t ON t.oid = format('%I', c.table_name)::regclass
      WHERE c.table_schema = 'public' AND t.relkind IN ('r', 'p') AND NOT t.relispartition`,
  );
  const tables = [...new Set(columns.map(({ table }) => table))];
  expect(TABLE_FATES.map(({ table }) => table).sort()).toEqual(tables.sort());
  for (const fate of TABLE_FATES) {
    const own = columns.filter(({ table }) => table === fate.table);
    if ('by' in fate) {
      const type = fate.isText ? 'text' : 'uuid';
      expect({ ...fate, own }).toMatchObject({
        own: expect.arrayContaining([{ table: fate.table, column: fate.by, type }]),
      });
    }
    const sealed = own.filter(({ column }) => column.startsWith('sealed_')).map(({ column }) => column);
    expect([fate.table, 'sealed' in fate ? fate.sealed : []]).toEqual([fate.table, sealed]);
  }
});

test('a table comes after those that its foreign keys name', async () => {
  const keys = await query<{ table: string; parent: string }>(
    `SELECT conrelid::regclass::text AS table, confrelid::regclass::text AS parent FROM pg_constraint
      WHERE contype = 'f' AND conparentid = 0 AND conrelid <> confrelid`,
  );
  const moving = TABLE_FATES.flatMap((fate) => ('by' in fate ? [fate.table] : []));
  const wrong = keys.filter(
    ({ table, parent }) => moving.includes(table) && moving.indexOf(table) < moving.indexOf(parent),
  );
  expect(wrong).toEqual([]);
  expect(keys.filter(({ table, parent }) => moving.includes(table) && !moving.includes(parent))).toEqual([]);
});
