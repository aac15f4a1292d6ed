import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { migrate } from '../../../src/core/database/migrate.js';
import { asLimitedUser } from '../../support/rows.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { onServer } from '../../support/test-run.js';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase({ migrated: false });
});
afterEach(() => database.drop());

const indexes = () =>
  onServer(database.url, async (client) => {
    const sql = "SELECT indexname FROM pg_indexes WHERE indexname IN ('accounts_search_idx', 'accounts_prefix_idx')";
    return (await client.query<{ indexname: string }>(sql)).rows.map(({ indexname }) => indexname);
  });

test('a start whose role may not create pg_trgm names the command to run, and succeeds after it', async () => {
  const url = await asLimitedUser(database.url);
  await expect(migrate(url)).rejects.toThrow(
    'DATABASE_URL: its role lacks a privilege that the migrations need: permission denied to create extension "pg_trgm". ' +
      'Run in this database, as its owner: CREATE EXTENSION pg_trgm',
  );
  await onServer(database.url, (client) => client.query('CREATE EXTENSION pg_trgm'));
  await migrate(url);
  expect(await indexes()).toEqual(['accounts_search_idx']);
});

test('a server without pg_trgm is named', async () => {
  await onServer(database.url, async (client) => {
    const name = client.escapeIdentifier(new URL(database.url).pathname.slice(1));
    await client.query(`ALTER DATABASE ${name} SET extension_control_path = '/nowhere'`);
  });
  await expect(migrate(database.url)).rejects.toThrow(
    /^DATABASE_URL: its server lacks a feature that the migrations need: .*pg_trgm.* install its contrib modules \(postgresql-contrib\)$/,
  );
});
