import { createHash } from 'node:crypto';
import pg from 'pg';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import { expectReplicated } from './local-commit.js';
import { asDatabaseError, endsConnection, isLostStatement, isReadOnlyServer } from './postgres-errors.js';
import { beginSql, beginWithoutSessionSql, type Settings } from './session-settings.js';
import { Sql, type StatementOptions } from './sql.js';

/** pg's types do not have the timeout of a single query. */
interface TimedQuery extends pg.QueryConfig<unknown[]> {
  readonly query_timeout: number;
}

/** The name of each prepared statement, by its text. */
const statementNames = new Map<string, string>();

/**
 * A fixed set of texts: each stays prepared. The name is a hash of the text: behind a pooler another process may have prepared
 * a statement in the same session, and one name must never mean two texts.
 */
function nameOf(sql: string): string {
  let name = statementNames.get(sql);
  if (name === undefined) {
    name = `hb_${createHash('sha256').update(sql).digest('base64url').slice(0, 22)}`;
    statementNames.set(sql, name);
  }
  return name;
}

/** Sends queries, on a pipelined connection without waiting for responses. Throws the first error, or returns the results. */
async function sendAll(
  client: pg.ClientBase,
  queries: readonly TimedQuery[],
  isPipelined: boolean,
): Promise<pg.QueryResult[]> {
  const send = queries.map((query) => () => client.query(query));
  const results = isPipelined ? await Promise.allSettled(send.map((query) => query())) : await oneByOne(send);
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

async function oneByOne(
  send: readonly (() => Promise<pg.QueryResult>)[],
): Promise<PromiseSettledResult<pg.QueryResult>[]> {
  const results: PromiseSettledResult<pg.QueryResult>[] = [];
  for (const query of send) results.push(...(await Promise.allSettled([query()])));
  return results;
}

/** Keeps the error of the rows, which is none of the database. */
class WatchedRows {
  error: unknown;

  constructor(private readonly rows: Iterable<string> | AsyncIterable<string | Buffer>) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<string | Buffer> {
    try {
      yield* this.rows;
    } catch (error) {
      this.error = error;
      throw error;
    }
  }
}

/** The client waits this much longer than the server's timeout; after that the connection counts as dead. */
const RESPONSE_MARGIN_MS = 500;

/** How the sessions of a pool run statements. */
interface SessionRules {
  /** Of every session. */
  readonly settings: Settings;
  /** False behind a pooler that gives each transaction another session: then each transaction gets the settings. */
  readonly keepsSettings: boolean;
  readonly isPipelined: boolean;
  /** Prepare statements by default. */
  readonly isPrepared: boolean;
  /** A pooler may have lost prepared statements. */
  readonly canPrepare: boolean;
  /** How long a statement may take, unless its transaction says otherwise. */
  readonly statementTimeoutMs: number;
}

export interface TransactionSettings {
  /** For this transaction alone. */
  readonly settings?: Settings;
  /** Milliseconds that each statement of this transaction may take; for work without a waiting caller. */
  readonly statementTimeoutMs?: number;
  /** The transaction is rolled back at its end: its result says what it would have done. */
  readonly isDryRun?: boolean | undefined;
}

/** One connection in use. The only place that sends statements and translates errors of pg. */
export class Session extends Sql {
  /** Its server has refused a write. */
  isReadOnly = false;
  /** A pooler has run a prepared statement in another session than the one that prepared it. */
  hasLostStatement = false;
  private isInTransaction = false;
  private isLost = false;
  private isBare = false;
  private running = 0;
  private timeoutMs: number;

  constructor(
    private readonly client: pg.PoolClient,
    private readonly rules: SessionRules,
  ) {
    super();
    this.timeoutMs = rules.statementTimeoutMs;
  }

  run(
    text: string,
    values?: readonly unknown[],
    { prepared = this.rules.isPrepared }: StatementOptions = {},
  ): Promise<pg.QueryResult> {
    const { keepsSettings, canPrepare } = this.rules;
    const isPrepared = prepared && keepsSettings && canPrepare && values !== undefined;
    const query = { ...this.timed(text), values: values as unknown[], name: isPrepared ? nameOf(text) : undefined };
    const isAlone = !keepsSettings && !this.isInTransaction && !this.isBare;
    return this.guard(() => (isAlone ? this.sendWithSettings(query) : this.client.query(query)));
  }

  /** Sends `rows`, in the text format of COPY, to a statement `COPY … FROM STDIN`. For pools that are not pipelined. */
  async copyIn(text: string, rows: Iterable<string> | AsyncIterable<string | Buffer>): Promise<void> {
    const source = new WatchedRows(rows);
    await this.guard(() => pipeline(source, this.client.query(copyFrom(text)))).catch((error: unknown) => {
      throw source.error ?? error;
    });
  }

  /** `copyIn`, and then statements without parameters, as one transaction in one round trip. */
  async copyAndCommit(text: string, rows: Iterable<string>, then: readonly string[]): Promise<void> {
    this.isInTransaction = true;
    try {
      await this.copyIn([this.beginSql(), text, ...then, 'COMMIT'].join('; '), rows);
      this.endTransaction();
    } catch (error) {
      // The first error is the one to report.
      await this.rollback().catch(() => undefined);
      throw error;
    }
  }

  /**
   * Runs `work` in a transaction (READ COMMITTED) and returns its result after the commit; in one that has begun, `work` is a part
   * of it.
   */
  async inTransaction<T>(work: () => Promise<T>, settings?: TransactionSettings): Promise<T> {
    if (this.isInTransaction) return work();
    await this.begin(settings);
    try {
      const result = await work();
      await (settings?.isDryRun === true ? this.rollback() : this.commit());
      return result;
    } catch (error) {
      // The first error is the one to report.
      await this.rollback().catch(() => undefined);
      throw error;
    }
  }

  /** Puts no statement of `work` into a transaction, for `CREATE INDEX CONCURRENTLY`. A pooler may leave out the settings. */
  async withoutTransaction<T>(work: () => Promise<T>): Promise<T> {
    this.isBare = true;
    return work().finally(() => (this.isBare = false));
  }

  /** Gives the connection back to its pool, which closes it if it cannot be used again. */
  release(): void {
    // A pooler closes the connection to its server if the client leaves within a transaction.
    if (this.isReadOnly && !this.rules.keepsSettings) this.client.query('BEGIN').catch(() => undefined);
    this.client.release(this.isLost || this.isInTransaction || this.running > 0);
  }

  async begin({ settings, statementTimeoutMs }: TransactionSettings = {}): Promise<void> {
    const own =
      statementTimeoutMs === undefined
        ? settings
        : { ...settings, statement_timeout: String(Math.round(statementTimeoutMs)) };
    await this.send(this.beginSql(own));
    this.isInTransaction = true;
    this.timeoutMs = statementTimeoutMs ?? this.rules.statementTimeoutMs;
  }

  private async commit(): Promise<void> {
    await this.send('COMMIT');
    this.endTransaction();
  }

  async rollback(): Promise<void> {
    // A lost connection has nothing to roll back. If the server refuses writes, the connection is closed instead: then a
    // pooler closes its own to that server too.
    if (this.isLost) return;
    await this.send('ROLLBACK');
    this.endTransaction();
  }

  private endTransaction(): void {
    this.isInTransaction = false;
    this.timeoutMs = this.rules.statementTimeoutMs;
  }

  private beginSql(own?: Settings): string {
    const { keepsSettings, settings } = this.rules;
    return keepsSettings ? beginSql(own) : beginWithoutSessionSql(settings, own);
  }

  private send(text: string): Promise<pg.QueryResult> {
    return this.guard(() => this.client.query(this.timed(text)));
  }

  /** A statement of its own behind a pooler: a transaction in one round trip. */
  private async sendWithSettings(query: TimedQuery): Promise<pg.QueryResult> {
    const queries = [this.timed(this.beginSql()), query, this.timed('COMMIT')];
    const [, result] = await sendAll(this.client, queries, this.rules.isPipelined);
    return result as pg.QueryResult;
  }

  private timed(text: string): TimedQuery {
    return { text, query_timeout: this.timeoutMs + RESPONSE_MARGIN_MS };
  }

  private async guard<T>(run: () => Promise<T>): Promise<T> {
    this.running++;
    try {
      const result = await run();
      expectReplicated(this.client);
      return result;
    } catch (cause) {
      throw this.failure(cause);
    } finally {
      this.running--;
    }
  }

  private failure(cause: unknown): unknown {
    const error = asDatabaseError(cause);
    if (endsConnection(error)) this.isLost = true;
    if (isReadOnlyServer(error)) this.isReadOnly = true;
    if (isLostStatement(error)) this.hasLostStatement = true;
    return error;
  }
}
