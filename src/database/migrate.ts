import { setTimeout as delay } from 'node:timers/promises';
import { AbstractLogger, DataSource, MigrationExecutor, type MigrationInterface, type QueryRunner } from 'typeorm';
import { CreateAuth1795570010000 } from '../../migrations/1795570010000-create-auth.js';
import { CreateIdempotency1795570020000 } from '../../migrations/1795570020000-create-idempotency.js';
import { CreateScale1795570030000 } from '../../migrations/1795570030000-create-scale.js';
import { CreateAccounts1795570040000 } from '../../migrations/1795570040000-create-accounts.js';
import { CreatePartnerClient1795570050000 } from '../../migrations/1795570050000-create-partner-client.js';
import { CreateSiteSync1795570060000 } from '../../migrations/1795570060000-create-site-sync.js';
import { CreateVision1795570070000 } from '../../migrations/1795570070000-create-vision.js';
import { CreateReferenceSite1795570080000 } from '../../migrations/1795570080000-create-reference-site.js';
import { CreateReferenceVision1795570090000 } from '../../migrations/1795570090000-create-reference-vision.js';
import { CreateStorage1795570100000 } from '../../migrations/1795570100000-create-storage.js';
import { CreateSandbox1795570250000 } from '../../migrations/1795570250000-create-sandbox.js';
import { CreateExchanges1795570305000 } from '../../migrations/1795570305000-create-exchanges.js';
import { AddActionErrors1795570410000 } from '../../migrations/1795570410000-add-action-errors.js';
import { NameKeysOfAllCustomers1795570420000 } from '../../migrations/1795570420000-name-keys-of-all-customers.js';
import { CreateExchangeDays1795570421000 } from '../../migrations/1795570421000-create-exchange-days.js';
import { CreateConsoleSessions1795570430000 } from '../../migrations/1795570430000-create-console-sessions.js';
import { ListExchangeReferences1795570431000 } from '../../migrations/1795570431000-list-exchange-references.js';
import { ScopeSandboxScenarios1795570440000 } from '../../migrations/1795570440000-scope-sandbox-scenarios.js';
import { IndexLongRecordings1795570441000 } from '../../migrations/1795570441000-index-long-recordings.js';
import { ListWithoutCounters1795570450000 } from '../../migrations/1795570450000-list-without-counters.js';
import { SearchAccountsByTrigrams1795570451000 } from '../../migrations/1795570451000-search-accounts-by-trigrams.js';
import { DropRecordingDays1795570453000 } from '../../migrations/1795570453000-drop-recording-days.js';
import { WorkInLanes1795570460000 } from '../../migrations/1795570460000-work-in-lanes.js';
import { ShowDownloadsByStart1795570461000 } from '../../migrations/1795570461000-show-downloads-by-start.js';
import { FindLanesOfDownloads1795570462000 } from '../../migrations/1795570462000-find-lanes-of-downloads.js';
import { RereadByAge1795570470000 } from '../../migrations/1795570470000-reread-by-age.js';
import { DropPageOfPolls1795570471000 } from '../../migrations/1795570471000-drop-page-of-polls.js';
import { TryDownloadsUntilDeadline1795570480000 } from '../../migrations/1795570480000-try-downloads-until-deadline.js';
import { KeepUnansweredPosts1795570490000 } from '../../migrations/1795570490000-keep-unanswered-posts.js';
import { GiveMaterialsSeveralParents1795570491000 } from '../../migrations/1795570491000-give-materials-several-parents.js';
import { GiveConnectionsFirstByteTimeout1795570500000 } from '../../migrations/1795570500000-give-connections-first-byte-timeout.js';
import { IssueKeysForConnections1795570510000 } from '../../migrations/1795570510000-issue-keys-for-connections.js';
import { StartupError } from '../config/startup-error.js';
import { Lane } from './lane.js';
import { SQLSTATE, sqlState } from './postgres-errors.js';
import type { Querying } from './sql.js';
import { type TypeOrmConnection, TypeOrmDriver } from './typeorm-driver.js';

/** Every migration, oldest first. They are listed here because a glob would load any file in the folder. */
export const MIGRATIONS: (new () => MigrationInterface)[] = [
  CreateAuth1795570010000,
  CreateIdempotency1795570020000,
  CreateScale1795570030000,
  CreateAccounts1795570040000,
  CreatePartnerClient1795570050000,
  CreateSiteSync1795570060000,
  CreateVision1795570070000,
  CreateReferenceSite1795570080000,
  CreateReferenceVision1795570090000,
  CreateStorage1795570100000,
  CreateSandbox1795570250000,
  CreateExchanges1795570305000,
  AddActionErrors1795570410000,
  NameKeysOfAllCustomers1795570420000,
  CreateExchangeDays1795570421000,
  CreateConsoleSessions1795570430000,
  ListExchangeReferences1795570431000,
  ScopeSandboxScenarios1795570440000,
  IndexLongRecordings1795570441000,
  ListWithoutCounters1795570450000,
  SearchAccountsByTrigrams1795570451000,
  DropRecordingDays1795570453000,
  WorkInLanes1795570460000,
  ShowDownloadsByStart1795570461000,
  FindLanesOfDownloads1795570462000,
  RereadByAge1795570470000,
  DropPageOfPolls1795570471000,
  TryDownloadsUntilDeadline1795570480000,
  KeepUnansweredPosts1795570490000,
  GiveMaterialsSeveralParents1795570491000,
  GiveConnectionsFirstByteTimeout1795570500000,
  IssueKeysForConnections1795570510000,
];

/** An arbitrary number: all instances of this service use the same advisory lock. */
const MIGRATION_LOCK = 4_867_391_202;

const LOCK_RETRY_MS = 100;

/** An index may take long. */
const STATEMENT_TIMEOUT_MS = 24 * 3_600_000;

/**
 * Applies the pending migrations and returns their names. Each one runs in its own transaction, or outside of one if it
 * declares `transaction = false` (for `CREATE INDEX CONCURRENTLY`); migrations before a failed one stay applied.
 * Instances that start together wait for the first one and then find nothing to do.
 *
 * Throws `DatabaseConnectionError` if it cannot connect, and `StartupError` if the role lacks a privilege or the database
 * was created before the migrations were squashed.
 */
export async function migrate(databaseUrl: string, migrations = MIGRATIONS): Promise<string[]> {
  const dataSource = new DataSource({
    type: 'postgres',
    driver: new TypeOrmDriver(migrationLane(databaseUrl)),
    migrations,
    installExtensions: false,
    logger: new SilentLogger(),
  });
  await dataSource.initialize();
  try {
    const applied = await appliedMigrations(dataSource);
    assertNotFromDevelopmentBuild(applied, migrations);
    if (namesOf(migrations).every((name) => applied.includes(name))) return [];
    return await withMigrationLock(dataSource, () => applyPending(dataSource));
  } catch (error) {
    if (sqlState(error) !== SQLSTATE.insufficientPrivilege) throw error;
    const reason = (error as Error).message;
    throw new StartupError(`DATABASE_URL: its role lacks a privilege that the migrations need: ${reason}`, {
      cause: error,
    });
  } finally {
    await dataSource.destroy();
  }
}

/** One connection for the lock, one for the migrations. */
const migrationLane = (databaseUrl: string): Lane =>
  new Lane({
    databaseUrl,
    applicationName: 'haulbridge migrate',
    connections: 2,
    connectTimeoutMs: 10_000,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    transactionIdleMs: STATEMENT_TIMEOUT_MS,
    isPipelined: false,
    idleMs: 0,
  });

/** Names of the migrations that are not applied yet. Applied migrations of a newer version are ignored. */
export async function pendingMigrations(database: Querying, migrations = MIGRATIONS): Promise<string[]> {
  const applied = await appliedMigrations(database);
  return namesOf(migrations).filter((name) => !applied.includes(name));
}

async function applyPending(dataSource: DataSource): Promise<string[]> {
  const runner = dataSource.createQueryRunner();
  try {
    const executor = new MigrationExecutor(dataSource, runner);
    const applied: string[] = [];
    for (const migration of await executor.getPendingMigrations()) {
      const apply = () => executor.executeMigration(migration);
      await (migration.instance?.transaction === false ? bare(runner, apply) : inOwnTransaction(runner, apply));
      applied.push(migration.name);
    }
    return applied;
  } finally {
    await runner.release();
  }
}

async function bare(runner: QueryRunner, work: () => Promise<unknown>): Promise<void> {
  const { session } = (await runner.connect()) as TypeOrmConnection;
  await session.withoutTransaction(work);
}

async function inOwnTransaction(runner: QueryRunner, work: () => Promise<unknown>): Promise<void> {
  await runner.startTransaction();
  try {
    await work();
    await runner.commitTransaction();
  } catch (error) {
    await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  }
}

/**
 * Runs `work` while a transaction of a second connection holds the lock. A session lock would not work behind a pooler in
 * transaction mode. A waiting instance retries instead of blocking in PostgreSQL, because a blocked statement keeps a
 * snapshot, and `CREATE INDEX CONCURRENTLY` would wait for that snapshot for ever.
 */
async function withMigrationLock<T>(dataSource: DataSource, work: () => Promise<T>): Promise<T> {
  const runner = dataSource.createQueryRunner();
  try {
    while (!(await tryLock(runner))) await delay(LOCK_RETRY_MS);
    const result = await work();
    await runner.commitTransaction();
    return result;
  } finally {
    if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
    await runner.release();
  }
}

async function tryLock(runner: QueryRunner): Promise<boolean> {
  await runner.startTransaction('READ COMMITTED');
  // Without a parameter: a parameter makes pg open a portal, which keeps its snapshot until the transaction ends.
  const rows = (await runner.query(`SELECT pg_try_advisory_xact_lock(${MIGRATION_LOCK}) AS locked`)) as {
    locked: boolean;
  }[];
  if (rows[0]?.locked === true) return true;
  await runner.rollbackTransaction();
  return false;
}

/**
 * A database that an earlier development build migrated has migrations that this build does not know and that are older
 * than its newest one.
 */
function assertNotFromDevelopmentBuild(applied: readonly string[], migrations: typeof MIGRATIONS): void {
  const known = namesOf(migrations);
  const newest = Math.max(...known.map(timestampOf));
  const unknown = applied.find((name) => !known.includes(name) && timestampOf(name) < newest);
  if (unknown === undefined) return;
  throw new StartupError(
    `DATABASE_URL: this database was created by a development build before the migrations were squashed (it has ${unknown}). ` +
      'Create a new database, or delete DATA_DIR/postgres if the embedded database is used.',
  );
}

async function appliedMigrations(database: Querying): Promise<string[]> {
  try {
    const rows = await database.query<{ name: string }[]>('SELECT name FROM migrations', []);
    return rows.map(({ name }) => name);
  } catch (error) {
    if (sqlState(error) === SQLSTATE.undefinedTable) return [];
    throw error;
  }
}

const namesOf = (migrations: readonly (new () => MigrationInterface)[]): string[] => migrations.map(({ name }) => name);

/** The name of a migration ends with its time in milliseconds (13 digits). */
const timestampOf = (name: string): number => Number(name.slice(-13));

/** The caller reports the migrations and their errors. */
class SilentLogger extends AbstractLogger {
  protected writeLog(): void {}
}
