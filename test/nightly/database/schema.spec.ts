import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { migrate } from '../../../src/core/database/migrate.js';
import { loadRelease } from '../../support/released-database.js';
import { databaseUrl, onServer } from '../../support/test-run.js';
import { startSystemPostgres, type SystemPostgres } from '../system-postgres.js';

let server: SystemPostgres;
beforeAll(async () => {
  server = await startSystemPostgres();
});
afterAll(() => server.stop());

async function create(name: string): Promise<string> {
  await onServer(server.url, (client) => client.query(`CREATE DATABASE ${name}`));
  return databaseUrl(server.url, name);
}

/** Partitions of days and months: those of 0.2.0 are of its time. */
const DATED = /_20\d{4}(\d\d)?(?!\d)/;

/** The statements of `pg_dump -s`, sorted, with the columns of each table sorted: an upgrade adds columns at the end. */
const schemaOf = (url: string): string[] =>
  server
    .run('pg_dump', ['--schema-only', '--no-owner', url])
    .replaceAll(/^(--|\\).*\n/gm, '')
    .split(';\n')
    .filter((statement) => !DATED.test(statement))
    .map((statement) => {
      const lines = statement.trim().split('\n');
      const sorted = /^CREATE (UNLOGGED )?TABLE/.test(lines[0] ?? '') ? lines.toSorted() : lines;
      return sorted.map((line) => line.replace(/,$/, '')).join('\n');
    })
    .toSorted();

test('an empty database and the upgraded one of 0.2.0 have the same schema', async () => {
  const [empty, released] = [await create('empty'), await create('released')];
  await loadRelease(released, '0.2.0');
  const before = schemaOf(released);
  await Promise.all([empty, released].map((url) => migrate(url)));
  const schema = schemaOf(empty);
  expect(schema.length).toBeGreaterThan(250);
  expect(schemaOf(released)).toEqual(schema);
  expect(before).not.toEqual(schema);
});
