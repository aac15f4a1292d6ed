import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newFolder, startCommand, variablesOf } from '../../support/command-process.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('each line is ok, or says what to do, and the exit code is 1', async () => {
  const variables = { ...variablesOf(database.url), STORAGE_URL: `file:${newFolder()}` };
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
      expect.stringMatching(/^ok {5}clock {8}0\.\d s (behind|ahead of) the database$/),
    ],
  ]);
  const lost = `s3://bucket/prefix?endpoint=http%3A%2F%2F127.0.0.1%3A9`;
  const bad = startCommand(['doctor'], { ...variables, STORAGE_URL: lost });
  expect([await bad.ended, bad.output()]).toEqual([
    1,
    expect.stringMatching(/^WRONG {2}storage {6}STORAGE_URL: .*$[^]*^error: to be put right: storage$/m),
  ]);
});
