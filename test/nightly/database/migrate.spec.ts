import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';
import { migrate, pendingMigrations } from '../../../src/database/migrate.js';
import { MIGRATIONS } from '../../../src/database/migrations.js';
import { ListExchangeReferences1795570431000 } from '../../../migrations/1795570431000-list-exchange-references.js';
import type { Reference } from '../../../src/contracts/common/references.js';
import { uuidv7 } from '../../../src/database/uuid.js';
import { storedReferences } from '../../../src/exchanges/exchange-references.rules.js';
import { ExchangesRepository } from '../../../src/exchanges/exchanges.repository.js';
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

class IndexTickets1900000000002 implements MigrationInterface {
  readonly transaction = false;
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE INDEX CONCURRENTLY tickets_created_idx ON tickets (created_at)');
  }
  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX tickets_created_idx');
  }
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
    expect(await pendingMigrations(dataSource, [...MIGRATIONS, AddKept1900000000000, Break1900000000001])).toEqual([
      'Break1900000000001',
    ]);
  });

  test('runs a migration with `transaction = false` outside of a transaction, while another instance waits', async () => {
    const newer = { migrations: [...MIGRATIONS, IndexTickets1900000000002] };
    const applied = await Promise.all([migrate(database.url, newer), migrate(database.url, newer)]);
    expect(applied.flat()).toEqual([...NAMES, 'IndexTickets1900000000002']);
    const indexes: unknown = await (
      await database.connect()
    ).query("SELECT indisvalid FROM pg_index WHERE indexrelid = 'tickets_created_idx'::regclass");
    expect(indexes).toEqual([{ indisvalid: true }]);
  });

  test('applies the migrations of a newer version', async () => {
    await migrate(database.url);
    const newer = [...MIGRATIONS, AddKept1900000000000];
    const dataSource = await database.connect();
    expect(await pendingMigrations(dataSource, newer)).toEqual(['AddKept1900000000000']);
    expect(await migrate(database.url, { migrations: newer })).toEqual(['AddKept1900000000000']);
    expect(await pendingMigrations(dataSource, newer)).toEqual([]);
  });
});

describe('the migrations', () => {
  test('are listed in the order of their times, and can all be reverted', async () => {
    const times = NAMES.map((name) => Number(name.slice(-13)));
    expect(times).toEqual([...times].sort((a, b) => a - b));
    await migrate(database.url);
    const dataSource = await database.connect();
    const runner = dataSource.createQueryRunner();
    for (const migration of [...MIGRATIONS].reverse()) await new migration().down(runner);
    await runner.release();
    expect(await tables(dataSource)).toEqual(['migrations']);
    // The extension stays: others may use it.
    const functions = `SELECT proname FROM pg_proc p WHERE pronamespace = 'public'::regnamespace
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')`;
    expect(await dataSource.query(functions)).toEqual([]);
  });

  test('convert the references of stored exchanges, in both directions', async () => {
    await migrate(database.url);
    const dataSource = await database.connect();
    const runner = dataSource.createQueryRunner();
    const migration = new ListExchangeReferences1795570431000();
    const refs = async (): Promise<unknown> => {
      const [row] = await dataSource.query<{ refs: unknown }[]>('SELECT refs FROM exchanges');
      return row?.refs;
    };
    await migration.down(runner);
    const stored: Reference[] = [
      { kind: 'ticketNumber', value: 'IN-1: "x"' },
      { kind: 'truckId', value: 'TRUCK-1' },
    ];
    const [haulerId, id] = [randomUUID(), uuidv7()];
    await dataSource.query(
      `INSERT INTO exchanges (id, hauler_id, request_bytes, response_bytes, duration_ms, status, request_form, response_form,
         in_revision, direction, interface, method, path, request_headers, refs)
       VALUES ($1, $2, 1, 1, 1, 200, 0, 0, true, 'inbound', 'vision', 'GET', '/', '{}', $3)`,
      [id, haulerId, JSON.stringify(stored)],
    );
    await migration.up(runner);
    expect(await refs()).toEqual(storedReferences(haulerId, stored));
    const filter = { haulerId, reference: { kind: 'truckId', value: 'TRUCK-1' } } as const;
    expect(await new ExchangesRepository(dataSource).find(filter, 10)).toMatchObject([{ id }]);
    await migration.down(runner);
    expect(JSON.parse(String(await refs()))).toEqual(stored);
    await runner.release();
  });
});
