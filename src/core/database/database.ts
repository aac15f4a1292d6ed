import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { ENV, type ResolvedEnv } from '../config/env.js';
import { Pool, type PoolOptions, type TransactionOptions } from './pool.js';
import type { Session } from './session.js';
import { LOCK_TIMEOUT_MS } from './settle-batch.js';
import { Sql, type StatementOptions } from './sql.js';

/** How long a statement of a request may take before the server cancels it. */
export const STATEMENT_TIMEOUT_MS = 4000;

/**
 * How long the server waits for the next statement of a transaction: an instance that is paused in the middle of one must
 * not keep its locks. No longer than it owns its lanes (`work/`), so that another instance can take over.
 */
const TRANSACTION_IDLE_MS = 10_000;

/**
 * Two for batches of tickets without an `Idempotency-Key` (new ones share one), one for batches with keys, three for those of accounts,
 * one for the look-up of API keys, one for the readiness check: none of them waits for another.
 */
export const HOT_CONNECTIONS = 8;

/**
 * PostgreSQL replaces a generic plan only when the statistics of its tables change. A table may have been nearly empty when
 * its plan was made, so connections are replaced regularly.
 */
const PLAN_LIFETIME_SECONDS = 60;

/** Three for the transactions of the synchronisation. */
const BULK_CONNECTIONS = 3;

/** Statement timeout of bulk work: a million records take a minute or two. */
export const BULK_TIMEOUT_MS = 300_000;

const EXCHANGE_TIMEOUT_MS = 10_000;

/** Firewalls and proxies forget a connection that was silent for 4 minutes, some although the kernel probes it. */
const IDLE_MS = 180_000;

/** How long a connection for occasional work stays open. */
const UNUSED_MS = 10_000;

/** Time that PostgreSQL waits for a partner between two statements of a bulk transaction. */
const BULK_IDLE_MS = 60_000;

/**
 * Most answers of a partner stay in memory while they are staged, because each statement reads all of it. PostgreSQL takes
 * this setting only before a session uses temporary tables, so a pooler cannot have it.
 */
const TEMP_BUFFERS = '64MB';

export interface QueryOptions extends StatementOptions {
  readonly pool?: PoolName;
}

export interface DatabaseTransactionOptions extends TransactionOptions {
  readonly pool?: PoolName;
}

/** The pools of the process: none can use up the connections of another. */
export type PoolName = 'general' | 'hot' | 'bulk' | 'exchanges';

/** All connections of the process to its database. A statement or transaction uses `general` unless it names another pool. */
@Injectable()
export class Database extends Sql<QueryOptions> implements OnApplicationShutdown {
  /**
   * For tickets, accounts, the look-up of keys and the readiness check only, so that an admin list cannot delay them. Plans are
   * generic: a new plan for each batch took 190 µs instead of 35 µs.
   */
  readonly hot: Pool;
  /** For requests and background work. */
  readonly general: Pool;
  /** For long transactions and COPY. */
  readonly bulk: Pool;
  /** For the log of exchanges, which must not wait for the transactions of `bulk`. */
  readonly exchanges: Pool;

  constructor(@Inject(ENV) env: Pick<ResolvedEnv, 'DATABASE_URL' | 'DATABASE_POOL'>) {
    super();
    const databaseUrl = env.DATABASE_URL;
    const open = (options: Omit<PoolOptions, 'databaseUrl'>) =>
      new Pool({ databaseUrl, ...options }, () => this.pools.forEach((pool) => pool.renew()));
    const request = { statementTimeoutMs: STATEMENT_TIMEOUT_MS, transactionIdleMs: TRANSACTION_IDLE_MS };
    this.general = open({
      ...request,
      applicationName: 'haulbridge',
      connections: env.DATABASE_POOL,
      isPipelined: true,
      idleMs: IDLE_MS,
    });
    this.hot = open({
      ...request,
      applicationName: 'haulbridge hot path',
      connections: HOT_CONNECTIONS,
      settings: { plan_cache_mode: 'force_generic_plan', lock_timeout: String(LOCK_TIMEOUT_MS) },
      isPipelined: true,
      isPrepared: true,
      idleMs: IDLE_MS,
      maxLifetimeSeconds: PLAN_LIFETIME_SECONDS,
    });
    this.bulk = open({
      applicationName: 'haulbridge bulk',
      connections: BULK_CONNECTIONS,
      statementTimeoutMs: BULK_TIMEOUT_MS,
      transactionIdleMs: BULK_IDLE_MS,
      startup: { temp_buffers: TEMP_BUFFERS },
      isPipelined: false,
      idleMs: UNUSED_MS,
    });
    this.exchanges = open({
      applicationName: 'haulbridge exchanges',
      connections: 1,
      statementTimeoutMs: EXCHANGE_TIMEOUT_MS,
      transactionIdleMs: TRANSACTION_IDLE_MS,
      isPipelined: false,
      idleMs: UNUSED_MS,
    });
  }

  run(text: string, values?: readonly unknown[], { pool = 'general', ...options }: QueryOptions = {}) {
    return this[pool].run(text, values, options);
  }

  /** See `Pool.transaction`. */
  transaction<T>(
    work: (session: Session) => Promise<T>,
    { pool = 'general', ...options }: DatabaseTransactionOptions = {},
  ): Promise<T> {
    return this[pool].transaction(work, options);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.pools.map((pool) => pool.close()));
  }

  private get pools(): readonly Pool[] {
    return [this.hot, this.general, this.bulk, this.exchanges];
  }
}
