import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { restore } from '../../../src/backup/commands.js';
import { backupOf, emptyDatabase, newFolder, refusal, relationsOf } from '../../support/backup-scene.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { onServer } from '../../support/test-run.js';

let source: TestDatabase;
let target: TestDatabase;
let archive: string;
beforeAll(async () => {
  [source, target] = await Promise.all([createTestDatabase(), emptyDatabase()]);
  await onServer(source.url, (client) =>
    client.query(
      `INSERT INTO haulers (id, name) SELECT gen_random_uuid(), 'hauler ' || n FROM generate_series(1, 50) n`,
    ),
  );
  archive = await backupOf(source.url);
});
afterAll(() => Promise.all([source.drop(), target.drop()]));

/** The sentence of a restore that must not have written anything. */
async function refused(from: string, variables: NodeJS.ProcessEnv = {}): Promise<string> {
  const sentence = await refusal((context) => restore({ from, database: target.url }, context), target.url, variables);
  expect(await relationsOf(target.url)).toEqual([]);
  expect(sentence).not.toMatch(/\n/);
  return sentence;
}

function changed(change: (file: string) => void): string {
  const file = join(newFolder(), 'changed.tar');
  copyFileSync(archive, file);
  change(file);
  return file;
}

const flipped = (at: number): string =>
  changed((file) => {
    const bytes = readFileSync(file);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(file, bytes);
  });

describe('restore refuses, and writes nothing,', () => {
  test('an archive with a changed byte, wherever it is', async () => {
    const { length } = readFileSync(archive);
    // Steps that fall into headers, contents, padding and the end.
    const places = [0, 156, 513, length - 1, length - 1025];
    for (let at = 97; at < length; at += 499) places.push(at);
    for (const at of places)
      expect([at, await refused(flipped(at))]).toEqual([
        at,
        expect.stringMatching(/damaged|is not a backup of haulbridge/),
      ]);
    expect(places.length).toBeGreaterThan(50);
  });

  test('an archive of another SECRETS_KEY, and none', async () => {
    expect(await refused(archive, { SECRETS_KEY: '77'.repeat(32) })).toMatch(
      /^the archive belongs to another SECRETS_KEY/,
    );
    expect(await refused(archive, { SECRETS_KEY: '' })).toMatch(/^SECRETS_KEY is not set/);
  });

  test('an archive of a later release', async () => {
    const later = await createTestDatabase();
    await onServer(later.url, (client) =>
      client.query(`INSERT INTO migrations (timestamp, name) VALUES (1999999999999, 'AddMoons1999999999999')`),
    );
    const from = await backupOf(later.url);
    await later.drop();
    expect(await refused(from)).toMatch(
      /^the archive was written by version \d+\.\d+\.\d+ and has 1 migration that this build does not know \(AddMoons1999999999999\)/,
    );
    const format = changed((file) =>
      writeFileSync(file, readFileSync(file, 'latin1').replace('"version":1}', '"version":3}'), 'latin1'),
    );
    expect(await refused(format)).toMatch(/^the archive has format 3, and this release reads format 2/);
  });

  test('a database that is not empty', async () => {
    for (const sql of ['CREATE TABLE other (id int)', 'CREATE SCHEMA more CREATE VIEW v AS SELECT 1 AS one']) {
      const used = await emptyDatabase();
      await onServer(used.url, (client) => client.query(sql));
      const relations = await relationsOf(used.url);
      expect(await refusal((context) => restore({ from: archive, database: used.url }, context), used.url)).toMatch(
        /^the database is not empty \(it has (other|more\.v)\): restore into a new one/,
      );
      expect(await relationsOf(used.url)).toEqual(relations);
      await used.drop();
    }
  });
});
