import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { restore } from '../../../src/backup/commands.js';
import { backupOf, contentOf, emptyDatabase, succeed } from '../../support/backup-scene.js';

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
