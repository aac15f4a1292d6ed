import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource, type DataSourceOptions, type EntityManager } from 'typeorm';
import { ENV, type ResolvedEnv } from '../../config/env.js';
import { createDataSourceOptions } from '../../database/data-source.js';
import { inTransaction } from '../../database/transaction.js';
import { Semaphore } from '../../database/semaphore.js';

/** Answers that one instance stages and applies at the same time. */
const MAX_TRANSACTIONS = 3;

/** Statement timeout while an answer is applied: a million records take a minute or two. */
export const APPLY_TIMEOUT_MS = 300_000;

/** Time that PostgreSQL waits for the partner between two statements of the transaction. */
const IDLE_TIMEOUT_MS = 60_000;

/**
 * Most answers stay in memory while they are staged, because each statement reads all of it. PostgreSQL refuses another
 * size of `temp_buffers` in the same session, so nothing else may use temporary tables.
 *
 * The statistics of PostgreSQL know neither the staged records nor what the transaction has written, so that it expects one
 * row and may loop over all staged records for each stored one, for minutes. Every statement needs a whole
 * answer or catalog, for which hash joins that fit into memory are right.
 */
const SETTINGS = `SET LOCAL idle_in_transaction_session_timeout = ${IDLE_TIMEOUT_MS};
  SET LOCAL enable_nestloop = off; SET LOCAL jit = off; SET LOCAL work_mem = '32MB'; SET LOCAL temp_buffers = '64MB'`;

/**
 * Connections for the long transactions of the synchronisation, so that they never take one from requests. They are not
 * pipelined, because pg refuses COPY on a pipelined connection.
 */
@Injectable()
export class SyncDatabase implements OnApplicationShutdown {
  readonly slots = new Semaphore(MAX_TRANSACTIONS);
  private readonly dataSource: DataSource;
  private initialized: Promise<unknown> | undefined;

  constructor(@Inject(ENV) env: ResolvedEnv) {
    const options = createDataSourceOptions(env);
    const extra = options.extra as Readonly<Record<string, unknown>>;
    this.dataSource = new DataSource({
      ...options,
      entities: [],
      poolSize: MAX_TRANSACTIONS,
      extra: { ...extra, pipeline: false, idleTimeoutMillis: 10_000 },
    } as DataSourceOptions);
  }

  /** Runs `work` once in a transaction. The caller holds one of the `slots`. */
  async transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    this.initialized ??= this.dataSource.initialize();
    try {
      await this.initialized;
    } catch (error) {
      this.initialized = undefined;
      throw error;
    }
    return inTransaction(
      this.dataSource,
      async (manager) => {
        await manager.query(SETTINGS);
        return work(manager);
      },
      { statementTimeoutMs: APPLY_TIMEOUT_MS, attempts: 1 },
    );
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }
}
