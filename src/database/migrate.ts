import { DataSource, MigrationExecutor } from 'typeorm';
import { StartRefused } from './embedded/start-refused.js';
import { MIGRATIONS } from './migration-list.js';
import { DatabaseConnectionError, SQLSTATE, sqlState } from './postgres-errors.js';
import { SilentLogger } from './silent-logger.js';

/** Any fixed number: all instances of this service must take the same lock. */
const MIGRATION_LOCK = 4_867_391_202;

/**
 * Applies what is pending, all of it or nothing, and returns the names of what was applied.
 * Instances that start together wait for the first one, then find nothing to do. The lock is the transaction's and not
 * the session's, so it holds through a pooler in transaction mode too. Throws `DatabaseConnectionError` where
 * it gets none, `StartRefused` where its role may not.
 */
export async function migrate(databaseUrl: string, migrations = MIGRATIONS): Promise<string[]> {
  const dataSource = new DataSource({
    type: 'postgres',
    url: databaseUrl,
    migrations,
    installExtensions: false,
    logger: new SilentLogger(),
    poolSize: 1,
    connectTimeoutMS: 10_000,
    applicationName: 'haulbridge migrate',
  });
  await dataSource.initialize().catch((error: unknown) => {
    throw new DatabaseConnectionError(error);
  });
  try {
    if ((await pendingMigrations(dataSource, migrations)).length === 0) return [];
    return await dataSource.transaction(async ({ queryRunner }) => {
      if (queryRunner === undefined) throw new Error('a transaction always has a query runner');
      await queryRunner.query('SET LOCAL statement_timeout = 0');
      await queryRunner.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
      const applied = await new MigrationExecutor(dataSource, queryRunner).executePendingMigrations();
      return applied.map(({ name }) => name);
    });
  } catch (error) {
    if (sqlState(error) !== SQLSTATE.insufficientPrivilege) throw error;
    const told = `DATABASE_URL: its role may not do what the migrations need: ${(error as Error).message}`;
    throw new StartRefused(told, { cause: error });
  } finally {
    await dataSource.destroy();
  }
}

/** Names of the migrations that this version of the service knows and the database has not had. */
export async function pendingMigrations(dataSource: DataSource, migrations = MIGRATIONS): Promise<string[]> {
  const applied = new Set(await appliedMigrations(dataSource));
  return migrations.map(({ name }) => name).filter((name) => !applied.has(name));
}

async function appliedMigrations(dataSource: DataSource): Promise<string[]> {
  try {
    const rows: { name: string }[] = await dataSource.query('SELECT name FROM migrations');
    return rows.map(({ name }) => name);
  } catch (error) {
    if (sqlState(error) === SQLSTATE.undefinedTable) return [];
    throw error;
  }
}
