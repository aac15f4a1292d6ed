import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TABLE_FATES } from '../../../src/backup/hauler-tables.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { onServer } from '../../support/test-run.js';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { restore } from '../../../src/backup/commands.js';
import { backupOf, contentOf, emptyDatabase, succeed } from '../../support/backup-scene.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Of the catalogue of PostgreSQL. */
const query = <Row extends object>(sql: string): Promise<Row[]> =>
  onServer(database.url, async (client) => (await client.query<Row>(sql)).rows);

test('every table moves with a hauler or stays, with a reason: add a new one to src/backup/hauler-tables.ts', async () => {
  const columns = await query<{ table: string; column: string; type: string }>(
    `SELECT c.table_name AS table, c.column_name AS column, c.data_type AS type
       FROM information_schema.columns c JOIN pg_class t ON t.oid = format('%I', c.table_name)::regclass
      WHERE c.table_schema = 'public' AND t.relkind IN ('r', 'p') AND NOT t.relispartition
      ORDER BY c.table_name, c.ordinal_position`,
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

const FIXTURES = join(import.meta.dirname, '../../fixtures');
const releases = readdirSync(FIXTURES).filter((name) => name.endsWith('.tar'));

/** `nightly/backup` has the rest: refusals, interruptions, buckets, every table. */
test('the database of the last release is restored, brought to this version, backed up, and restored again the same', async () => {
  const [first, second] = [await emptyDatabase(), await emptyDatabase()];
  const last = join(FIXTURES, releases.toSorted().at(-1) ?? '');
  await succeed((context) => restore({ from: last, database: first.url }, context), first.url);
  // The record of a restore is its own.
  const own = ['outbound_stop', 'schema_version'];
  const content = await contentOf(first.url, own);
  expect(content['table tickets']).not.toMatch(/^0 rows/);
  expect(content['table recordings']).not.toMatch(/^0 rows/);
  const archive = await backupOf(first.url);
  await succeed((context) => restore({ from: archive, database: second.url }, context), second.url);
  expect(await contentOf(second.url, own)).toEqual(content);
  await Promise.all([first.drop(), second.drop()]);
});
