import { setTimeout as delay } from 'node:timers/promises';
import {
  type DataSource,
  type EntityManager,
  type QueryRunner,
  QueryRunnerAlreadyReleasedError,
  QueryRunnerProviderAlreadyReleasedError,
} from 'typeorm';
import { PoolClient } from './pools.js';
import { DatabaseConnectionError, isTransient } from './postgres-errors.js';

/** Maximum number of attempts after deadlocks and serialization failures. */
const MAX_ATTEMPTS = 5;

export interface TransactionOptions {
  /** Milliseconds that each statement may take; for work without a waiting caller. */
  readonly statementTimeoutMs?: number;
  /** 1 for work that cannot run again, because it reads a stream. */
  readonly attempts?: number;
}

/**
 * Runs `work` in one transaction on one connection and returns its result after the commit. After a deadlock or a
 * serialization failure the whole of `work` runs again: it must have no effect outside the database.
 * It never runs again after a lost connection, because the commit may have succeeded.
 */
export async function inTransaction<T>(
  dataSource: DataSource,
  work: (manager: EntityManager) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await runOnce(dataSource, work, options);
    } catch (error) {
      if (!isTransient(error) || attempt >= (options.attempts ?? MAX_ATTEMPTS)) throw error;
      await delay(Math.random() * 10 * 2 ** attempt);
    }
  }
}

async function runOnce<T>(
  dataSource: DataSource,
  work: (manager: EntityManager) => Promise<T>,
  options: TransactionOptions,
): Promise<T> {
  const runner = dataSource.createQueryRunner();
  try {
    const client: unknown = await runner.connect();
    await runner.startTransaction();
    if (options.statementTimeoutMs !== undefined) await allow(runner, client, options.statementTimeoutMs);
    const result = await work(runner.manager);
    await runner.commitTransaction();
    return result;
  } catch (error) {
    // The first error is the one to report. A lost connection has nothing to roll back.
    if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
    throw isOfReleased(error) ? new DatabaseConnectionError(error) : error;
  } finally {
    await runner.release();
  }
}

/** The message of TypeORM for the next statement when a connection was lost between two statements. */
const isOfReleased = (error: unknown): boolean =>
  error instanceof QueryRunnerAlreadyReleasedError || error instanceof QueryRunnerProviderAlreadyReleasedError;

async function allow(runner: QueryRunner, client: unknown, milliseconds: number): Promise<void> {
  await runner.query(`SET LOCAL statement_timeout = ${Math.round(milliseconds)}`);
  if (client instanceof PoolClient) client.allow(milliseconds);
}
