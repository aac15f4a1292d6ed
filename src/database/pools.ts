import { once } from 'node:events';
import pg from 'pg';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { DatabaseConnectionError, isDatabaseUnavailable } from './postgres-errors.js';
import { ENV, type ResolvedEnv } from '../config/env.js';
import { Connection } from './sql.js';

/** How long a request waits for a new or free connection before the database counts as unavailable (decision 13). */
export const CONNECT_TIMEOUT_MS = 3000;

/** How long a statement may take before the server cancels it; `inTransaction` can set more. */
const STATEMENT_TIMEOUT_MS = 4000;

/**
 * How long the server waits for the next statement of a transaction: an instance that is paused in the middle of one must
 * not keep its locks. Shorter than a lease, so that another instance can take over.
 */
const TRANSACTION_IDLE_MS = 10_000;

/** The client waits this much longer than the server's timeout; after that the connection counts as dead. */
const RESPONSE_MARGIN_MS = 500;

/** pg's message for a statement that took longer than `query_timeout`. */
const READ_TIMEOUT = 'Query read timeout';
const CLOSE_TIMEOUT_MS = 100;

/** Minimum time for a statement, even if its caller waited long for the connection. */
const MIN_STATEMENT_MS = 1000;

/**
 * A pg client with a time limit for every statement, and with connection failures as `DatabaseConnectionError`. It needs
 * `pipeline: true`: only then does pg close the connection of a statement that timed out.
 */
export class PoolClient extends pg.Client {
  private statementMs = STATEMENT_TIMEOUT_MS;

  constructor(config?: string | pg.ClientConfig) {
    super(config);
    // A lost connection fails the statement that it was running. Without a listener it would end the process: the server
    // may close a connection in the moment in which the pool hands it out.
    this.on('error', () => undefined);
  }

  /** Sets session parameters. A pooler in between may refuse them in the startup packet. */
  static async prepare(this: void, client: pg.ClientBase): Promise<void> {
    await client.query(
      `SET statement_timeout = ${STATEMENT_TIMEOUT_MS}; SET idle_in_transaction_session_timeout = ${TRANSACTION_IDLE_MS}`,
    );
  }

  /** Sets how long statements on this connection may take from now on, in milliseconds. */
  allow(statementMs: number): void {
    this.statementMs = statementMs;
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<pg.Client> | void {
    if (callback === undefined) {
      return super.connect().catch((error: unknown) => {
        throw new DatabaseConnectionError(error);
      });
    }
    super.connect((error: Error | null) => {
      (callback as (error: Error | null) => void)(error == null ? null : new DatabaseConnectionError(error));
    });
  }

  // @ts-expect-error pg declares eight overloads of query; all of them are passed on.
  override query(...[query, ...rest]: Parameters<pg.Client['query']>): unknown {
    // TypeScript sees only the last of these overloads.
    const parameters = [this.withTimeout(query), ...rest] as unknown as Parameters<pg.Client['query']>;
    const result: unknown = super.query(...parameters);
    return result instanceof Promise ? result.catch((error: unknown) => this.throwWhenClosed(error)) : result;
  }

  /** After a timeout pg closes the connection. The pool must see that before it uses the connection again. */
  private async throwWhenClosed(error: unknown): Promise<never> {
    if (error instanceof Error && error.message === READ_TIMEOUT) {
      await once(this, 'end', { signal: AbortSignal.timeout(CLOSE_TIMEOUT_MS) }).catch(() => undefined);
    }
    throw error;
  }

  private withTimeout(query: pg.QueryConfig | string): pg.QueryConfig {
    const config = typeof query === 'string' ? { text: query } : query;
    // A query object of another package, such as COPY, has no timeout.
    if (config === null || 'submit' in config) return config;
    return Object.assign({ query_timeout: this.statementMs + RESPONSE_MARGIN_MS }, config);
  }
}

type ConnectCallback = Parameters<pg.Client['connect']>[0];
type ClientCallback = Parameters<pg.Pool['connect']>[0];

/**
 * A pool that keeps the 5 seconds of decision 13: the time that a caller waited for the connection is subtracted from
 * the time of its statements.
 */
class DeadlinePool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>;
  override connect(callback: ClientCallback): void;
  override connect(callback?: ClientCallback): Promise<pg.PoolClient> | void {
    const start = performance.now();
    if (callback === undefined) return super.connect().then((client) => withRemainingTime(client, start));
    super.connect((error, client, release) => callback(error, client && withRemainingTime(client, start), release));
  }
}

function withRemainingTime<Client>(client: Client, start: number): Client {
  const remainingMs = STATEMENT_TIMEOUT_MS - (performance.now() - start);
  if (client instanceof PoolClient) client.allow(Math.max(remainingMs, MIN_STATEMENT_MS));
  return client;
}

/**
 * pg with this pool, for TypeORM, which creates its own and does not show it: `onPool` receives it. It inherits, because
 * copying pg's members would load its native binding.
 */
export function pgWithDeadlinePool(onPool: (pool: pg.Pool) => void = () => undefined): typeof pg {
  class TypeOrmPool extends DeadlinePool {
    constructor(config?: pg.PoolConfig) {
      super(config);
      onPool(this);
    }
  }
  return Object.create(pg, { Pool: { value: TypeOrmPool } }) as typeof pg;
}

/**
 * Two for batches of tickets without an `Idempotency-Key`, one for batches with keys, one for the look-up of API keys, one
 * for the readiness check: none of them waits for another.
 */
export const HOT_PATH_CONNECTIONS = 5;

/**
 * PostgreSQL replaces a generic plan only when the statistics of its tables change. A table may have been nearly empty when
 * its plan was made, so connections are replaced regularly.
 */
const PLAN_LIFETIME_SECONDS = 60;

/**
 * Connections for ticket ingestion, its key look-up and the readiness check only, so that an admin list cannot delay them.
 * Plans are generic: a new plan for each batch took 190 µs instead of 35 µs.
 */
@Injectable()
export class HotPathPool implements OnApplicationShutdown {
  private readonly pool: pg.Pool;

  constructor(@Inject(ENV) env: ResolvedEnv) {
    this.pool = new DeadlinePool({
      connectionString: env.DATABASE_URL,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      application_name: 'haulbridge hot path',
      keepAlive: true,
      pipeline: true,
      max: HOT_PATH_CONNECTIONS,
      // pg's types do not accept a subclass that overrides `query`.
      Client: PoolClient as unknown as typeof pg.Client,
      // The pool awaits it, although its type returns void.
      onConnect: (client): unknown => prepare(client),
      idleTimeoutMillis: 0,
      maxLifetimeSeconds: PLAN_LIFETIME_SECONDS,
    });
    // The pool removes an idle connection that is lost.
    this.pool.on('error', () => undefined);
  }

  counts(): { open: number; idle: number; waiting: number } {
    const { totalCount, idleCount, waitingCount } = this.pool;
    return { open: totalCount, idle: idleCount, waiting: waitingCount };
  }

  /** Runs `work` on a connection that no other caller uses meanwhile. */
  async use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    let isLost = false;
    try {
      return await work(new Connection(client, { prepared: true }));
    } catch (error) {
      // The server reports a shutdown before it closes the connection, which still looks usable.
      isLost = isDatabaseUnavailable(error);
      throw error;
    } finally {
      client.release(isLost);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.end();
  }
}

async function prepare(client: pg.ClientBase): Promise<void> {
  await PoolClient.prepare(client);
  await client.query('SET plan_cache_mode = force_generic_plan');
}

/** The connections of the pool that TypeORM creates. */
@Injectable()
export class DatabasePool {
  private pool: pg.Pool | undefined;

  readonly observe = (pool: pg.Pool): void => void (this.pool = pool);

  counts(): { open: number; idle: number; waiting: number } {
    return {
      open: this.pool?.totalCount ?? 0,
      idle: this.pool?.idleCount ?? 0,
      waiting: this.pool?.waitingCount ?? 0,
    };
  }
}
