import { once } from 'node:events';
import pg from 'pg';
import { DatabaseConnectionError } from './postgres-errors.js';

/** How long a statement may take before the server cancels it; `inTransaction` can ask for more. */
export const STATEMENT_TIMEOUT_MS = 4000;

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

/** The least time for a statement, however long its caller waited for the connection. */
const MIN_STATEMENT_MS = 1000;

/**
 * A pg client with a time limit for every statement, and with connection failures as `DatabaseConnectionError`. It needs
 * `pipeline: true`: only then does pg close the connection of a statement that timed out.
 */
export class PoolClient extends pg.Client {
  private statementMs = STATEMENT_TIMEOUT_MS;

  constructor(config?: string | pg.ClientConfig) {
    super(config);
    // A lost connection fails the statement that it was running. Without a listener it would end the process: the server may
    // close a connection in the moment in which the pool hands it out.
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
    // Of these overloads TypeScript sees only the last one.
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
export class DeadlinePool extends pg.Pool {
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

/** pg with this pool, for TypeORM, which creates its own. It inherits, because copying pg's members would load its native binding. */
export const pgWithDeadlinePool = Object.create(pg, { Pool: { value: DeadlinePool } }) as typeof pg;
