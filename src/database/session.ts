import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { expectReplicated } from './local-commit.js';
import { asDatabaseError, endsConnection, isLostStatement, isReadOnlyServer, isTransient } from './postgres-errors.js';
import { beginSql, beginWithoutSessionSql, type Settings } from './session-settings.js';
import type { Rows, Sql, StatementOptions } from './sql.js';
import { nameOf, sendAll, type TimedQuery, WatchedRows } from './statement.js';

/** The client waits this much longer than the server's timeout; after that the connection counts as dead. */
const RESPONSE_MARGIN_MS = 500;

/** Maximum number of attempts after deadlocks and serialization failures. */
const MAX_ATTEMPTS = 5;

/** How the sessions of a pool run statements. */
export interface SessionRules {
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
}

/** Plain SQL and its parameters. */
export type Statement = readonly [sql: string, parameters: unknown[]];

/** One connection in use. The only place that sends statements and translates errors of pg. */
export class Session implements Sql {
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
    private client: pg.PoolClient,
    private readonly rules: SessionRules,
    private readonly options: StatementOptions = {},
    private readonly reconnect?: () => Promise<pg.PoolClient>,
  ) {
    this.timeoutMs = rules.statementTimeoutMs;
  }

  async query<Row = unknown>(
    text: string,
    values?: readonly unknown[],
    options?: StatementOptions,
  ): Promise<Rows<Row>> {
    return (await this.run(text, values, options)).rows as Rows<Row>;
  }

  async change(text: string, values?: readonly unknown[], options?: StatementOptions): Promise<number> {
    return (await this.run(text, values, options)).rowCount ?? 0;
  }

  /** Returns the result of pg. */
  run(
    text: string,
    values?: readonly unknown[],
    { prepared = this.options.prepared ?? this.rules.isPrepared }: StatementOptions = {},
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

  /** The output of a statement `COPY … TO STDOUT`, in its text format. For pools that are not pipelined. */
  async *copyOut(text: string): AsyncGenerator<Buffer> {
    let isComplete = false;
    try {
      yield* this.client.query(copyTo(text)) as AsyncIterable<Buffer>;
      isComplete = true;
    } catch (cause) {
      throw this.failure(cause);
    } finally {
      // The rest of the output is on the connection.
      if (!isComplete) this.isLost = true;
    }
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

  /** Runs `work` in a transaction (READ COMMITTED) and returns its result after the commit. */
  async inTransaction<T>(work: () => Promise<T>, settings?: TransactionSettings): Promise<T> {
    await this.begin(settings);
    try {
      const result = await work();
      await this.commit();
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

  async commit(): Promise<void> {
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

  /** `run`, which outside of a transaction runs again after a deadlock or a serialization failure. */
  async execute(text: string, values?: unknown[]): Promise<pg.QueryResult> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.run(text, values);
      } catch (error) {
        const canRetry = isTransient(error) || isLostStatement(error);
        if (this.isInTransaction || !canRetry || attempt >= MAX_ATTEMPTS) throw error;
        await delay(Math.random() * 10 * 2 ** attempt);
      }
    }
  }

  /** Runs `work` in a transaction, or in the current one. After a deadlock or a serialization failure it runs again. */
  async transaction<T>(work: () => Promise<T>, settings: TransactionSettings & { attempts?: number } = {}): Promise<T> {
    if (this.isInTransaction) return work();
    const start = performance.now();
    let hasBegun = false;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.inTransaction(() => {
          hasBegun = true;
          return work();
        }, settings);
      } catch (error) {
        const canRetry =
          isTransient(error) ||
          isLostStatement(error) ||
          (!hasBegun && attempt === 1 && performance.now() - start < 1000);
        if (!canRetry || attempt >= (settings.attempts ?? MAX_ATTEMPTS)) throw error;
        await delay(Math.random() * 10 * 2 ** attempt);
        if (this.isLost) await this.replace();
      }
    }
  }

  /** Runs the statements in one transaction and returns the rows of the last one. */
  inSequence<Rows>(...statements: readonly Statement[]): Promise<Rows> {
    return this.transaction(async () => {
      let rows: unknown;
      for (const [sql, parameters] of statements) rows = await this.query<unknown>(sql, parameters);
      return rows as Rows;
    });
  }

  copy(text: string, rows: Iterable<string> | AsyncIterable<string | Buffer>): Promise<void> {
    return this.copyIn(text, rows);
  }

  private async replace(): Promise<void> {
    if (this.reconnect === undefined) return;
    this.client.release(true);
    this.client = await this.reconnect();
    this.isLost = this.isReadOnly = false;
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
