import { setTimeout as delay } from 'node:timers/promises';
import { AbstractLogger, DataSource, type Migration, MigrationExecutor } from 'typeorm';
import { StartupError } from '../config/startup-error.js';
import { Pool } from './pool.js';
import { MIGRATIONS } from './migrations.js';
import { isDatabaseUnavailable, isLockTimeout, SQLSTATE, sqlState } from './postgres-errors.js';
import { thisRelease } from './release.js';
import { schemaFault } from './schema-faults.js';
import { appliedMigrations, findOpenTransactions, recordRelease } from './schema.repository.js';
import type { Session } from './session.js';
import type { Sql } from './sql.js';
import { driverOver } from './data-source.js';

/** An arbitrary number: all instances of this service use the same advisory lock. */
export const MIGRATION_LOCK = 4_867_391_202;

const LOCK_RETRY_MS = 100;

/** An index may take long. */
const STATEMENT_TIMEOUT_MS = 24 * 3_600_000;

/**
 * How long a migration waits for the lock of a table. All statements on that table wait behind it, those of pushes too. So it
 * gives up its place, and tries again later.
 */
const TABLE_LOCK_MS = 1_000;
const TABLE_RETRY_MS = 3_000;

/** A dump of a large database keeps its locks for hours. */
const MAX_TABLE_WAIT_MS = 12 * 3_600_000;

/** Another instance is waited for silently for this long. */
const SILENT_MS = 5_000;

export interface MigrateOptions {
  readonly migrations?: typeof MIGRATIONS;
  readonly release?: ReturnType<typeof thisRelease>;
  /** Called before the first pending migration. An error leaves the database as it is. */
  readonly before?: (database: Sql) => Promise<void>;
  /** Gets a sentence for the operator where something is waited for. */
  readonly report?: (sentence: string) => void;
}

/**
 * Applies the pending migrations and returns their names. Each one runs in its own transaction, or outside of one if it
 * declares `transaction = false` (for `CREATE INDEX CONCURRENTLY`); migrations before a failed one stay applied.
 * Instances that start together wait for the first one and then find nothing to do.
 *
 * Throws `DatabaseConnectionError` if it cannot connect, and `StartupError` if the role lacks a privilege, the server a
 * feature, or this version cannot use the database.
 */
export async function migrate(databaseUrl: string, options: MigrateOptions = {}): Promise<string[]> {
  const { migrations = MIGRATIONS, release = thisRelease(), report = () => undefined } = options;
  const pool = migrationPool(databaseUrl);
  try {
    const assertUsable = async () => {
      const fault = await schemaFault(pool, migrations, release);
      if (fault !== undefined) throw new StartupError(fault);
    };
    await assertUsable();
    if ((await pendingMigrations(pool, migrations)).length === 0) return [];
    await options.before?.(pool);
    const applied = await withMigrationLock(pool, report, async () => {
      const names = await pool.use((session) => applyPending(session, pool, migrations, report));
      // The restore of an older backup begins with fewer migrations.
      if (MIGRATIONS.every((migration) => migrations.includes(migration))) await recordRelease(pool, release);
      return names;
    });
    await assertUsable();
    return applied;
  } catch (error) {
    const lacking = LACKING.get(sqlState(error));
    if (lacking === undefined) throw error;
    throw new StartupError(`DATABASE_URL: ${lacking} that the migrations need: ${(error as Error).message}`, {
      cause: error,
    });
  } finally {
    await pool.close();
  }
}

/** What the operator has to provide, by SQLSTATE. */
const LACKING: ReadonlyMap<string | undefined, string> = new Map([
  [SQLSTATE.insufficientPrivilege, 'its role lacks a privilege'],
  [SQLSTATE.featureNotSupported, 'its server lacks a feature'],
]);

/**
 * For a start without migrations. Throws `StartupError` if this version cannot use the database. A database that is away may
 * come later: the instance is not ready until then.
 */
export async function refuseUnusable(databaseUrl: string): Promise<void> {
  const pool = migrationPool(databaseUrl);
  try {
    const fault = await schemaFault(pool);
    if (fault !== undefined) throw new StartupError(fault);
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error;
  } finally {
    await pool.close();
  }
}

/** One connection for the lock, one for the migrations, one for questions meanwhile. */
export const migrationPool = (databaseUrl: string): Pool =>
  new Pool({
    databaseUrl,
    applicationName: 'haulbridge migrate',
    connections: 3,
    connectTimeoutMs: 10_000,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    transactionIdleMs: STATEMENT_TIMEOUT_MS,
    isPipelined: false,
    idleMs: 0,
  });

/** Names of the migrations that are not applied yet. Applied migrations of a newer version are ignored. */
export async function pendingMigrations(database: Sql, migrations = MIGRATIONS): Promise<string[]> {
  const applied = await appliedMigrations(database);
  return migrations.map(({ name }) => name).filter((name) => !applied.includes(name));
}

async function applyPending(
  session: Session,
  pool: Pool,
  migrations: typeof MIGRATIONS,
  report: (sentence: string) => void,
): Promise<string[]> {
  const dataSource = await new DataSource({
    type: 'postgres',
    driver: driverOver((text, values) => session.run(text, values)),
    migrations,
    installExtensions: false,
    logger: new SilentLogger(),
  }).initialize();
  const executor = new MigrationExecutor(dataSource, dataSource.createQueryRunner());
  const settings = { lock_timeout: `${TABLE_LOCK_MS}ms` };
  const applied: string[] = [];
  for (const migration of await executor.getPendingMigrations()) {
    const apply = () => executor.executeMigration(migration);
    if (migration.instance?.transaction === false) await session.withoutTransaction(apply);
    else await unlessLocked(pool, report, migration, () => session.inTransaction(apply, { settings }));
    applied.push(migration.name);
  }
  return applied;
}

/** Tries again while others keep a table locked. */
async function unlessLocked(
  database: Sql,
  report: (sentence: string) => void,
  { name }: Migration,
  apply: () => Promise<unknown>,
): Promise<void> {
  for (const start = performance.now(); ; await delay(TABLE_RETRY_MS)) {
    try {
      await apply();
      return;
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      const open = (await findOpenTransactions(database)).join(', ');
      const sentence = `migration ${name} waits for a table that another transaction uses${open === '' ? '' : `; open transactions: ${open}`}`;
      if (performance.now() - start > MAX_TABLE_WAIT_MS)
        throw new StartupError(`DATABASE_URL: ${sentence}`, { cause: error });
      report(sentence);
    }
  }
}

/**
 * Runs `work` while a transaction of a second connection holds the lock. A session lock would not work behind a pooler in
 * transaction mode. A waiting instance retries instead of blocking in PostgreSQL, because a blocked statement keeps a
 * snapshot, and `CREATE INDEX CONCURRENTLY` would wait for that snapshot for ever.
 */
async function withMigrationLock<T>(
  pool: Pool,
  report: (sentence: string) => void,
  work: () => Promise<T>,
): Promise<T> {
  const timer = setTimeout(() => report('another instance applies migrations; this one waits for it'), SILENT_MS);
  const attempt = async (transaction: Sql) => {
    // Without a parameter: a parameter makes pg open a portal, which keeps its snapshot until the transaction ends.
    const sql = `SELECT pg_try_advisory_xact_lock(${MIGRATION_LOCK}) AS locked`;
    if (!(await transaction.only<{ locked: boolean }>(sql)).locked) return undefined;
    clearTimeout(timer);
    return { result: await work() };
  };
  try {
    for (;;) {
      const done = await pool.transaction(attempt, { attempts: 1 });
      if (done !== undefined) return done.result;
      await delay(LOCK_RETRY_MS);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** The caller reports the migrations and their errors. */
class SilentLogger extends AbstractLogger {
  protected writeLog(): void {}
}
