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

/** Tries in all when PostgreSQL asks for another one (deadlock, serialization failure). */
const TRIES = 5;

export interface TransactionOptions {
  /** Milliseconds that each statement may take, for work that no caller waits for. */
  readonly statementTimeoutMs?: number;
  /** 1 for work that cannot run again, because it reads a stream. */
  readonly attempts?: number;
}

/**
 * Runs `work` in one transaction on one connection and returns its result after the commit. After a deadlock or a
 * serialization failure the whole of `work` runs again: it must have no effect outside the database.
 * A lost connection is never tried again, for the commit may have arrived.
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
      if (!isTransient(error) || attempt >= (options.attempts ?? TRIES)) throw error;
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
    // The first error is the one that counts; on a lost connection there is nothing to roll back.
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
