import pg from 'pg';
import { DatabaseConnectionError, isSocketFailure } from './postgres-errors.js';

/** How long a statement may take before the server cancels it; `inTransaction` can ask for more. */
export const STATEMENT_TIMEOUT_MS = 4000;

/**
 * How long the server waits for the next statement of a transaction. An instance that is paused in the middle of one
 * would else keep its locks until it wakes, and every other one waiting; shorter than a lease, so that a takeover works.
 */
const TRANSACTION_IDLE_MS = 10_000;

/** What a statement is given beyond its own time before the connection counts as dead: the server did not even cancel. */
const ANSWER_MARGIN_MS = 500;

/**
 * A pg client that never hangs. Two things that pg leaves open: a query that times out on our side leaves its
 * connection waiting for that answer, so it is cut and the pool makes a new one; and an error of connecting, or of the
 * connection under way, does not say that it was the database's.
 */
export class PoolClient extends pg.Client {
  private budgetMs = STATEMENT_TIMEOUT_MS;

  /** Set as session parameters, not in the startup packet, which a pooler in between may refuse. */
  static async prepare(this: void, client: pg.ClientBase): Promise<void> {
    await client.query(
      `SET statement_timeout = ${STATEMENT_TIMEOUT_MS}; SET idle_in_transaction_session_timeout = ${TRANSACTION_IDLE_MS}`,
    );
  }

  /** Whether the server has said that it prepared the statement of this name, on this connection. */
  static hasPrepared(this: void, client: pg.ClientBase, name: string): boolean {
    return (client as unknown as Internals).connection.parsedStatements[name] !== undefined;
  }

  /** The time in milliseconds that statements on this connection have from now on. */
  allow(budgetMs: number): void {
    this.budgetMs = budgetMs;
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

  // @ts-expect-error pg declares eight overloads of query; all are passed on unchanged.
  override query(...parameters: Parameters<pg.Client['query']>): unknown {
    const limit = this.budgetMs + ANSWER_MARGIN_MS;
    const promised = awaits(parameters);
    (this as unknown as Internals).connectionParameters.query_timeout = promised ? false : limit;
    if (!promised) return super.query(...parameters);
    // By a callback and with a watch of our own: pg's promise and pg's timeout both keep the parameters alive until the
    // next full collection, which the megabytes of a busy hot path then bring about three times a second.
    const watch = watchOver(this, limit);
    return new Promise((resolve, reject) => {
      const settle = (error: Error | null, result: unknown) => {
        clearTimeout(watch);
        if (error === null || error === undefined) resolve(result);
        else reject(isSocketFailure(error) ? new DatabaseConnectionError(error) : error);
      };
      super.query(...([...parameters, settle] as unknown as Parameters<pg.Client['query']>));
    });
  }

  /** Ends the connection; what is under way fails with `error`. */
  cut(error: Error): void {
    (this as unknown as Internals).connection.stream.destroy(error);
  }
}

/** Whether a promise is expected of the call: neither a callback nor a query object was given. */
function awaits(parameters: readonly unknown[]): boolean {
  const [query] = parameters;
  const isObject = typeof query === 'object' && query !== null && 'submit' in query;
  return !isObject && typeof parameters.at(-1) !== 'function';
}

function watchOver(client: PoolClient, milliseconds: number): NodeJS.Timeout {
  return setTimeout(cutOff, milliseconds, client);
}

function cutOff(client: PoolClient): void {
  client.cut(new Error('Query read timeout'));
}

type ConnectCallback = Parameters<pg.Client['connect']>[0];

/** What pg does not declare of its client. */
interface Internals {
  readonly connectionParameters: { query_timeout: number | false };
  readonly connection: {
    readonly stream: { destroy(error: Error): void };
    readonly parsedStatements: Readonly<Record<string, string>>;
  };
}
