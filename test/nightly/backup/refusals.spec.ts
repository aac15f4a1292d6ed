import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { appendFileSync, copyFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { backup, restore, verify } from '../../../src/backup/commands.js';
import { backupOf, emptyDatabase, newFolder, refusal, relationsOf, succeed } from '../../support/backup-scene.js';
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

  test('an archive that was cut or continued', async () => {
    const { length } = readFileSync(archive);
    for (const size of [1, 511, 512, 700, length >> 1, length - 1024, length - 512, length - 1]) {
      const sentence = await refused(changed((file) => truncateSync(file, size)));
      expect([size, sentence]).toEqual([size, expect.stringMatching(/damaged|is not a backup of haulbridge/)]);
    }
    expect(await refused(changed((file) => appendFileSync(file, 'x')))).toMatch(/damaged \(after its end\)/);
  });

  test('what is not an archive', async () => {
    const folder = newFolder();
    const files = { empty: '', text: '-- PostgreSQL database dump\n'.repeat(100), zeros: Buffer.alloc(4096) };
    for (const [name, content] of Object.entries(files)) {
      writeFileSync(join(folder, name), content);
      expect(await refused(join(folder, name))).toMatch(/it is not a backup of haulbridge/);
    }
    execFileSync('tar', ['-cf', join(folder, 'other.tar'), '-C', folder, 'text']);
    expect(await refused(join(folder, 'other.tar'))).toMatch(/it is not a backup of haulbridge/);
    expect(await refused(join(folder, 'none.tar'))).toMatch(/none\.tar cannot be read: ENOENT/);
    expect(await refused(folder)).toMatch(/cannot be read: EISDIR/);
    expect(await refused('s3://bucket')).toBe('--from must name an object, as in s3://bucket/folder/haulbridge.tar');
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

  test('tables that are not those of its migrations', async () => {
    const odd = await createTestDatabase();
    await onServer(odd.url, (client) => client.query('ALTER TABLE haulers ADD COLUMN by_hand text'));
    const from = await backupOf(odd.url);
    await odd.drop();
    expect(await refused(from)).toMatch(/^the table haulers of the archive is not the one that its migrations create/);
  });

  test('a database that cannot be reached, or that takes no writes', async () => {
    const call = (change: Partial<URL>) => {
      const database = Object.assign(new URL(target.url), change).href;
      return refusal((context) => restore({ from: archive, database }, context), target.url);
    };
    expect(await call({ port: '1' })).toMatch(/^DATABASE_URL: the (service|database) /);
    expect(await call({ search: '?options=-c%20default_transaction_read_only%3Don' })).toMatch(/read-only transaction/);
    expect(await relationsOf(target.url)).toEqual([]);
  });
});

test('an ordinary role that owns its database restores, and verifies', async () => {
  const owned = await emptyDatabase();
  const role = `owner_${Date.now()}`;
  const { pathname } = new URL(owned.url);
  await onServer(owned.url, (client) =>
    client.query(
      `CREATE ROLE ${role} LOGIN PASSWORD 'owner-of-a-test'; ALTER DATABASE ${pathname.slice(1)} OWNER TO ${role}`,
    ),
  );
  const url = Object.assign(new URL(owned.url), { username: role, password: 'owner-of-a-test' }).href;
  try {
    await succeed((context) => restore({ from: archive, database: url }, context), source.url);
    await succeed((context) => verify({ from: archive }, context), url);
  } finally {
    await onServer(owned.url, (client) => client.query(`DROP OWNED BY ${role} CASCADE`));
    await onServer(source.url, (client) =>
      client.query(`REASSIGN OWNED BY ${role} TO CURRENT_USER; DROP ROLE ${role}`),
    );
    await owned.drop();
  }
});

describe('backup refuses', () => {
  test('a database without tables, a folder, a missing folder and a missing key', async () => {
    const folder = newFolder();
    mkdirSync(join(folder, 'inner'));
    const call = (to: string, url = source.url, variables: NodeJS.ProcessEnv = {}) =>
      refusal((context) => backup({ to: join(folder, to) }, context), url, variables);
    expect(await call('a.tar', target.url)).toMatch(/^the database has no tables of haulbridge/);
    expect(await call('inner')).toMatch(/inner is a folder; name a file in it$/);
    expect(await call('none/a.tar')).toMatch(/none\/a\.tar cannot be written: ENOENT/);
    expect(await call('a.tar', source.url, { SECRETS_KEY: '' })).toMatch(/^SECRETS_KEY is not set/);
    expect(await call('a.tar', '', { DATA_DIR: folder })).toMatch(/^SECRETS_KEY|^there is no database/);
    expect(execFileSync('ls', ['-A', folder], { encoding: 'utf8' })).toBe('inner\n');
  });
});
