import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';
import { migrate, pendingMigrations } from '../../../src/core/database/migrate.js';
import { MIGRATIONS } from '../../../src/core/database/migrations.js';
import { schemaFault } from '../../../src/core/database/schema-faults.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

class AddKept1900000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE kept (id int)');
  }
  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE kept');
  }
}

class Break1900000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE half_done (id int); CREATE TABLE broken (id nonsense)');
  }
  async down(): Promise<void> {}
}

const NAMES = MIGRATIONS.map(({ name }) => name);

let database: TestDatabase;
beforeEach(async () => void (database = await createTestDatabase({ migrated: false })));
afterEach(() => database.drop());

const tables = async (dataSource: DataSource): Promise<string[]> =>
  (
    await dataSource.query<{ name: string }[]>(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1",
    )
  ).map(({ name }) => name);

/** The SQL here is about migrations: what stands in the database before and after them. */
describe('migrate', () => {
  test('applies every migration once, in order', async () => {
    expect(await migrate(database.url)).toEqual(NAMES);
    expect(await migrate(database.url)).toEqual([]);
    const dataSource = await database.connect();
    expect(await tables(dataSource)).toContain('haulers');
    expect(await dataSource.query('SELECT name FROM migrations ORDER BY id')).toEqual(NAMES.map((name) => ({ name })));
  });

  test('is run once when six instances start on an empty database at the same time', async () => {
    const applied = await Promise.all(Array.from({ length: 6 }, () => migrate(database.url)));
    expect(applied.filter((names) => names.length > 0)).toEqual([NAMES]);
  });

  test('keeps the migrations before one that fails, and nothing of that one', async () => {
    const faulty = migrate(database.url, {
      migrations: [...MIGRATIONS, AddKept1900000000000, Break1900000000001],
    });
    await expect(faulty).rejects.toThrow('type "nonsense" does not exist');
    const dataSource = await database.connect();
    expect(await tables(dataSource)).toContain('kept');
    expect(await tables(dataSource)).not.toContain('half_done');
    expect(await pendingMigrations(database.open(), [...MIGRATIONS, AddKept1900000000000, Break1900000000001])).toEqual(
      ['Break1900000000001'],
    );
  });

  test('applies the migrations of a newer version', async () => {
    await migrate(database.url);
    const newer = [...MIGRATIONS, AddKept1900000000000];
    const pools = database.open();
    expect(await pendingMigrations(pools, newer)).toEqual(['AddKept1900000000000']);
    expect(await migrate(database.url, { migrations: newer })).toEqual(['AddKept1900000000000']);
    expect(await pendingMigrations(pools, newer)).toEqual([]);
  });
});

/** As many migrations as there were before the one with this name. */
const before = (name: string) => ({ migrations: MIGRATIONS.slice(0, NAMES.indexOf(name)) });

test('each key that a rotation made knows the first key (1797003000000)', async () => {
  await migrate(database.url, before('StoreRootsOfKeys1797003000000'));
  const dataSource = await database.connect();
  const chains = [
    ['a1', null],
    ['a2', 'a1'],
    ['a3', 'a2'],
    ['b1', null],
    ['b2', 'b1'],
  ] as const;
  const idOf = (name: string | null) => (name === null ? null : `000000${name}-0000-4000-8000-000000000000`);
  for (const [name, replaced] of chains) {
    await dataSource.query(
      `INSERT INTO api_keys (id, hash, prefix, interfaces, all_customers, created_at, replaces_id, overlap_seconds)
       VALUES ($1, $2, $3, '{vision}', true, now(), $4, $5)`,
      [idOf(name), Buffer.from(name), name, idOf(replaced), replaced === null ? null : 60],
    );
  }
  await migrate(database.url);
  expect(await dataSource.query('SELECT prefix, root_id AS root FROM api_keys ORDER BY prefix')).toEqual([
    { prefix: 'a1', root: null },
    { prefix: 'a2', root: idOf('a1') },
    { prefix: 'a3', root: idOf('a1') },
    { prefix: 'b1', root: null },
    { prefix: 'b2', root: idOf('b1') },
  ]);
});

test('endpoints of people keep their topics of states; without one they are paused (1797003001000)', async () => {
  await migrate(database.url, before('SendPeopleStatesAlone1797003001000'));
  const dataSource = await database.connect();
  const endpoints = [
    ['slack', ['sync.held', 'ticket.created', 'key.expired', 'clip.failed']],
    ['email', ['account.created', 'recording.failed']],
    ['email', ['recording.at_risk']],
    ['standard', ['ticket.created', 'sync.held']],
  ] as const;
  const idOf = (n: number) => `0000000${n}-0000-4000-8000-000000000000`;
  for (const [n, [format, topics]] of endpoints.entries()) {
    await dataSource.query(
      `INSERT INTO webhook_endpoints (id, url, topics, format, enabled, sealed_secret) VALUES ($1, 'x', $2, $3, true, 'x')`,
      [idOf(n), topics, format],
    );
    await dataSource.query(
      `INSERT INTO webhook_deliveries (id, endpoint_id, topic, data, status, due_at) VALUES
         (gen_random_uuid(), $1, 'ticket.created', '{}', 'pending', now()), (gen_random_uuid(), $1, 'ticket.created', '{}', 'failed', NULL),
         (gen_random_uuid(), $1, 'ticket.created', '{}', 'delivered', NULL), (gen_random_uuid(), $1, 'sync.held', '{}', 'pending', now()),
         (gen_random_uuid(), $1, 'webhook.test', '{}', 'pending', NULL)`,
      [idOf(n)],
    );
  }
  await migrate(database.url);
  expect(await dataSource.query('SELECT topics, enabled FROM webhook_endpoints ORDER BY id')).toEqual([
    { topics: ['sync.held', 'key.expired'], enabled: true },
    { topics: ['account.created', 'recording.failed'], enabled: false },
    { topics: ['recording.at_risk'], enabled: true },
    { topics: ['ticket.created', 'sync.held'], enabled: true },
  ]);
  const deliveries = (n: number) =>
    dataSource.query(
      `SELECT topic || ' ' || status || ' ' || coalesce(reason, '') AS row FROM webhook_deliveries WHERE endpoint_id = $1 ORDER BY 1`,
      [idOf(n)],
    );
  const rest = ['sync.held pending ', 'ticket.created delivered ', 'webhook.test failed interrupted'];
  for (const n of [0, 1, 2]) expect(await deliveries(n)).toEqual(rest.map((row) => ({ row })));
  expect(await deliveries(3)).toHaveLength(5);
});

describe('a database that another version has migrated', () => {
  let dataSource: DataSource;
  beforeEach(async () => {
    await migrate(database.url);
    dataSource = await database.connect();
  });

  const newer = [...MIGRATIONS, AddKept1900000000000];
  const release = (version: string, oldestCompatibleVersion: string) => ({ version, oldestCompatibleVersion });
  const upgrade = (version: string, oldest: string) =>
    migrate(database.url, { migrations: newer, release: release(version, oldest) });
  const fault = (version: string) => schemaFault(database.open(), MIGRATIONS, release(version, '0.1.0'));

  test('is used by the versions that the newer one names as compatible, and by no older one', async () => {
    await upgrade('0.10.0', '0.9.0');
    expect(await fault('0.9.1')).toBeUndefined();
    expect(await fault('0.10.0')).toBeUndefined();
    expect(await fault('0.8.7')).toBe(
      'DATABASE_URL: the database has migrations that version 0.8.7 does not know (AddKept1900000000000): version 0.10.0 ' +
        'has migrated it, and only versions from 0.9.0 on can use it. Start version 0.10.0, or restore a backup from before ' +
        'the upgrade into an empty database.',
    );
  });

  test('is refused at the start, before anything is written', async () => {
    await upgrade('9.1.0', '9.0.0');
    await expect(migrate(database.url)).rejects.toThrow('version 9.1.0 has migrated it');
    expect(await dataSource.query('SELECT version FROM schema_version')).toEqual([{ version: '9.1.0' }]);
  });

  test('is refused where no version is recorded, without the advice to delete data', async () => {
    await dataSource.query("INSERT INTO migrations (timestamp, name) VALUES (1900000000000, 'AddKept1900000000000')");
    await dataSource.query('DELETE FROM schema_version');
    const sentence = await fault('0.2.0');
    expect(sentence).toContain('(AddKept1900000000000), of a version that left no record');
    expect(sentence).not.toMatch(/delete|drop/i);
  });
});

test('a migration lets pushes pass while a dump has the table, and says what it waits for', async () => {
  class Alter1900000000003 implements MigrationInterface {
    async up(runner: QueryRunner): Promise<void> {
      await runner.query('ALTER TABLE haulers ADD note text');
    }
    async down(): Promise<void> {}
  }
  await migrate(database.url);
  const dump = (await database.connect()).createQueryRunner();
  await dump.startTransaction();
  await dump.query('SELECT FROM haulers');
  const reports: string[] = [];
  const migrated = migrate(database.url, {
    migrations: [...MIGRATIONS, Alter1900000000003],
    report: (sentence) => {
      reports.push(sentence);
      if (reports.length === 1) setTimeout(() => void dump.commitTransaction(), 500);
    },
  });
  expect(await migrated).toEqual(['Alter1900000000003']);
  await dump.release();
  expect(reports[0]).toMatch(
    /^migration Alter1900000000003 waits for a table that another transaction uses; open transactions: test \(process \d+, \d+ s\)$/,
  );
});
