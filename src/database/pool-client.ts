import pg from 'pg';
import { DatabaseConnectionError } from './postgres-errors.js';

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
 * connection waiting for that answer, so it is cut and the pool makes a new one; and an error of connecting does not
 * say that it was the database's.
 */
export class PoolClient extends pg.Client {
  private budgetMs: number | undefined = STATEMENT_TIMEOUT_MS;

  /** Set as session parameters, not in the startup packet, which a pooler in between may refuse. */
  static async prepare(this: void, client: pg.ClientBase): Promise<void> {
    await client.query(
      `SET statement_timeout = ${STATEMENT_TIMEOUT_MS}; SET idle_in_transaction_session_timeout = ${TRANSACTION_IDLE_MS}`,
    );
  }

  /** The time in milliseconds that statements on this connection have from now on; undefined: no limit. */
  allow(budgetMs: number | undefined): void {
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
    (this as unknown as Internals).connectionParameters.query_timeout =
      this.budgetMs === undefined ? false : this.budgetMs + ANSWER_MARGIN_MS;
    const answer: unknown = super.query(...parameters);
    if (answer instanceof Promise) {
      answer.catch((error: unknown) => {
        if (error instanceof Error && error.message === 'Query read timeout') this.cut(error);
      });
    }
    return answer;
  }

  private cut(error: Error): void {
    (this as unknown as Internals).connection.stream.destroy(error);
  }
}

type ConnectCallback = Parameters<pg.Client['connect']>[0];

/** What pg does not declare of its client. */
interface Internals {
  readonly connectionParameters: { query_timeout: number | false };
  readonly connection: { readonly stream: { destroy(error: Error): void } };
}
