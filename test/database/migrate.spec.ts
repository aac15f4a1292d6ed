import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';
import { migrate, pendingMigrations } from '../../src/database/migrate.js';
import { MIGRATIONS } from '../../src/database/migration-list.js';
import { GroupWindowsByConnection1763600930000 } from '../../migrations/1763600930000-group-windows-by-connection.js';
import { CheckTicketKeysAtOnce1763600940000 } from '../../migrations/1763600940000-check-ticket-keys-at-once.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

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
    await runner.query('CREATE TABLE broken (id nonsense)');
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

describe('migrate', () => {
  test('applies everything once, in order', async () => {
    expect(await migrate(database.url)).toEqual(NAMES);
    expect(await migrate(database.url)).toEqual([]);
    const dataSource = await database.connect();
    expect(await tables(dataSource)).toContain('haulers');
    expect(await dataSource.query('SELECT name FROM migrations ORDER BY id')).toEqual(NAMES.map((name) => ({ name })));
  });

  test('by six instances at once on an empty database: one applies, the others wait and find nothing to do', async () => {
    const applied = await Promise.all(Array.from({ length: 6 }, () => migrate(database.url)));
    expect(applied.filter((names) => names.length > 0)).toEqual([NAMES]);
  });

  test('applies all or nothing', async () => {
    const faulty = migrate(database.url, [...MIGRATIONS, AddKept1900000000000, Break1900000000001]);
    await expect(faulty).rejects.toThrow('type "nonsense" does not exist');
    const dataSource = await database.connect();
    expect(await tables(dataSource)).toEqual([]);
    expect(await pendingMigrations(dataSource)).toEqual(NAMES);
  });

  test('adds to a database what a newer version brings', async () => {
    await migrate(database.url);
    const newer = [...MIGRATIONS, AddKept1900000000000];
    const dataSource = await database.connect();
    expect(await pendingMigrations(dataSource, newer)).toEqual(['AddKept1900000000000']);
    expect(await migrate(database.url, newer)).toEqual(['AddKept1900000000000']);
    expect(await pendingMigrations(dataSource, newer)).toEqual([]);
  });

  test('says that nothing is pending to an older version beside a newer one', async () => {
    await migrate(database.url, [...MIGRATIONS, AddKept1900000000000]);
    expect(await pendingMigrations(await database.connect())).toEqual([]);
  });
});

describe('the migrations', () => {
  test('are listed in the order of their times, and can all be taken back', async () => {
    const times = NAMES.map((name) => Number(name.slice(-13)));
    expect(times).toEqual([...times].sort((a, b) => a - b));
    await migrate(database.url);
    const runner = (await database.connect()).createQueryRunner();
    for (const migration of [...MIGRATIONS].reverse()) await new migration().down(runner);
    await runner.release();
    expect(await tables(await database.connect())).toEqual(['migrations']);
  });
});

describe('a window that was laid by', () => {
  /** Of one subscription; as a build writes it that knows no connection of a window. */
  const layBy = (dataSource: DataSource, subscriptionId: string) =>
    dataSource.query(
      `INSERT INTO video_windows (hauler_id, id, subscription_id, start_time, end_time)
       VALUES ($1, gen_random_uuid(), $2, now(), now())`,
      [HAULER, subscriptionId],
    );
  const [HAULER, CONNECTION, SUBSCRIPTION] = [randomUUID(), randomUUID(), randomUUID()];

  test('gets the connection of its subscription, when it is migrated and from a former build beside this one', async () => {
    await migrate(database.url, MIGRATIONS.slice(0, MIGRATIONS.indexOf(GroupWindowsByConnection1763600930000)));
    const dataSource = await database.connect();
    await dataSource.query(
      `INSERT INTO video_subscriptions (hauler_id, id, connection_id, customer_id, truck_id, start_time, interval_seconds,
         enabled, read_until, created_at, updated_at)
       VALUES ($1, $2, $3, 'c', 't', now(), 300, true, now(), now(), now())`,
      [HAULER, SUBSCRIPTION, CONNECTION],
    );
    await layBy(dataSource, SUBSCRIPTION);
    await layBy(dataSource, randomUUID());
    await migrate(database.url);
    await layBy(dataSource, SUBSCRIPTION);
    const windows: unknown = await dataSource.query('SELECT subscription_id, connection_id FROM video_windows');
    const whole = { subscription_id: SUBSCRIPTION, connection_id: CONNECTION };
    expect(windows).toEqual([whole, whole]);
  });
});

describe('the keys of tickets', () => {
  test('that the first builds made deferrable become such that a push can rely on them', async () => {
    await migrate(database.url, MIGRATIONS.slice(0, MIGRATIONS.indexOf(CheckTicketKeysAtOnce1763600940000)));
    const dataSource = await database.connect();
    await dataSource.query(`
      ALTER TABLE tickets DROP CONSTRAINT tickets_inbound_key, DROP CONSTRAINT tickets_outbound_key;
      ALTER TABLE tickets
        ADD CONSTRAINT tickets_inbound_key UNIQUE (hauler_id, inbound_number, site_id) DEFERRABLE,
        ADD CONSTRAINT tickets_outbound_key UNIQUE (hauler_id, outbound_number, site_id) DEFERRABLE`);
    await migrate(database.url);
    const keys: unknown = await dataSource.query(
      `SELECT conname AS name, pg_get_constraintdef(oid) AS definition FROM pg_constraint
       WHERE conrelid = 'tickets'::regclass AND contype = 'u' ORDER BY conname`,
    );
    expect(keys).toEqual([
      { name: 'tickets_inbound_key', definition: 'UNIQUE (hauler_id, inbound_number, site_id)' },
      { name: 'tickets_outbound_key', definition: 'UNIQUE (hauler_id, outbound_number, site_id)' },
    ]);
  });
});
