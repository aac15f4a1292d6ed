import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { newFolder, startCommand, variablesOf } from '../../support/backup-scene.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { onServer } from '../../support/test-run.js';

let database: TestDatabase;
let storage: string;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  storage = newFolder();
  await sql(`DELETE FROM backup_verifications;
    INSERT INTO backup_verifications (verified_at, archive_created_at) VALUES (now() - interval '5 hours', now() - interval '6 hours')`);
});

const sql = (text: string) => onServer(database.url, (client) => client.query(text));

test('each line is ok, or says what to do, and the exit code is 1', async () => {
  const variables = { ...variablesOf(database.url), STORAGE_URL: `file:${storage}` };
  const good = startCommand(['doctor'], variables);
  expect([await good.ended, good.output().trimEnd().split('\n')]).toEqual([
    0,
    [
      expect.stringMatching(/^ok {5}database {5}PostgreSQL \d+(\.\d+)?.*, primary, takes writes$/),
      expect.stringMatching(/^ok {5}replication {2}no standby is connected$/),
      expect.stringMatching(/^ok {5}migrations {3}\d+ applied, none pending, none unknown$/),
      expect.stringMatching(
        /^ok {5}partitions {3}exchanges \d+, [23] days ahead; recordings \d+, [12] months ahead; ticket_revisions \d+, [12] months ahead$/,
      ),
      expect.stringMatching(/^ok {5}due work {5}nothing is due$/),
      expect.stringMatching(/^ok {5}storage {6}takes files/),
      expect.stringMatching(/^ok {5}backup {7}verified 5 h ago, of \d{4}-/),
      expect.stringMatching(/^ok {5}clock {8}0\.\d s (behind|ahead of) the database$/),
    ],
  ]);
  await sql('DELETE FROM backup_verifications');
  const bad = startCommand(['doctor'], variables);
  expect([await bad.ended, bad.output()]).toEqual([
    1,
    expect.stringMatching(
      /^WRONG {2}backup {7}no backup was ever verified: run backup and backup verify$[^]*^error: to be put right: backup$/m,
    ),
  ]);
});
