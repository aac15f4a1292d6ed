import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';
import { migrate } from '../../../src/core/database/migrate.js';
import { MIGRATIONS } from '../../../src/core/database/migrations.js';
import { schemaFault } from '../../../src/core/database/schema-faults.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

let database: TestDatabase;
let dataSource: DataSource;
beforeEach(async () => {
  database = await createTestDatabase();
  dataSource = await database.connect();
});
afterEach(() => database.drop());

describe('a database that another version has migrated', () => {
  class AddKept1900000000000 implements MigrationInterface {
    async up(runner: QueryRunner): Promise<void> {
      await runner.query('CREATE TABLE kept (id int)');
    }
    async down(): Promise<void> {}
  }

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
  const dump = dataSource.createQueryRunner();
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
