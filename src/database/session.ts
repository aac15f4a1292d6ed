import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { expectReplicated } from './local-commit.js';
import { asDatabaseError, endsConnection, isLostStatement, isReadOnlyServer, isTransient } from './postgres-errors.js';
import { nameOf, sendAll, type TimedQuery, WatchedRows } from './statement.js';
import { beginSql, beginWithoutSessionSql, type Settings } from './session-settings.js';

/** The client waits this much longer than the server's timeout; after that the connection counts as dead. */
const RESPONSE_MARGIN_MS = 500;

/** Maximum number of attempts after deadlocks and serialization failures. */
const MAX_ATTEMPTS = 5;

/** A lost connection is replaced once before a transaction begins, if the caller has not waited longer than this. */
const MAX_REPLACE_MS = 1000;

/** A connection in use. */
export interface Borrowed {
  readonly client: pg.PoolClient;
  /** False behind a pooler that gives each transaction another session. */
  readonly hasSettings: boolean;
  /** How long its statements may take. */
  readonly statementTimeoutMs: number;
}

/** Where connections come from: a pool. */
export interface ConnectionSource {
  /** Settings of every session. */
  readonly settings: Settings;
  readonly isPipelined: boolean;
  /** Whether sessions prepare their statements by default. */
  readonly isPrepared: boolean;
  readonly canPrepare: boolean;
  borrow(): Promise<Borrowed>;
  /** A server has refused a write. */
  withdrawTrust(): void;
  /** A pooler has run a prepared statement in another session than the one that prepared it. */
  reportLostStatement(): void;
}

export interface SessionOptions {
  /** Prepare statements. The SQL must then be one of a fixed set of texts, because each stays prepared. */
  readonly prepared?: boolean;
}

export interface TransactionSettings {
  /** For this transaction alone. */
  readonly settings?: Settings;
  /** Milliseconds that each statement of this transaction may take; for work without a waiting caller. */
  readonly statementTimeoutMs?: number;
  /** 1 for work that cannot run again, because it reads a stream. */
  readonly attempts?: number;
}

/** Plain SQL and its parameters. */
export type Statement = readonly [sql: string, parameters: unknown[]];

/** One connection of a pool, for plain SQL. The only place where errors of pg are translated. */
export class Session {
  private isInTransaction = false;
  private isLost = false;
  private isReadOnly = false;
  private isReleased = false;
  private running = 0;
  private isBare = false;
  private statementTimeoutMs: number;

  constructor(
    private borrowed: Borrowed,
    private readonly source: ConnectionSource,
    private readonly options: SessionOptions = {},
  ) {
    this.statementTimeoutMs = borrowed.statementTimeoutMs;
  }

  /** Returns the rows. */
  async query<Rows>(text: string, values: unknown[]): Promise<Rows> {
    return (await this.execute(text, values)).rows as Rows;
  }

  /**
   * Returns the result of pg. Outside of a transaction the statement runs again after a deadlock or a serialization failure,
   * and without its prepared form if a pooler has lost that: nothing was written.
   */
  async execute(text: string, values?: unknown[]): Promise<pg.QueryResult> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.send(text, values);
      } catch (error) {
        const canRetry = isTransient(error) || isLostStatement(error);
        if (this.isInTransaction || !canRetry || attempt >= MAX_ATTEMPTS) throw error;
        if (isTransient(error)) await pause(attempt);
      }
    }
  }

  /**
   * Runs `work` in a transaction (READ COMMITTED), or in the current one, and returns its result after the commit. After a
   * deadlock or a serialization failure `work` runs again: it must have no effect outside the database. It never runs again
   * after a lost connection, because the commit may have succeeded.
   */
  async transaction<T>(work: () => Promise<T>, settings: TransactionSettings = {}): Promise<T> {
    if (this.isInTransaction) return work();
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.runTransaction(work, settings);
      } catch (error) {
        const canRetry = isTransient(error) || isLostStatement(error);
        if (!canRetry || attempt >= (settings.attempts ?? MAX_ATTEMPTS)) throw error;
        await pause(attempt);
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

  /** Sends `rows`, in the text format of COPY, to a statement `COPY … FROM STDIN`. For pools that are not pipelined. */
  async copy(sql: string, rows: Iterable<string> | AsyncIterable<string | Buffer>): Promise<void> {
    const source = new WatchedRows(rows);
    await this.guard(() => pipeline(source, this.borrowed.client.query(copyFrom(sql)))).catch((error: unknown) => {
      throw source.error ?? error;
    });
  }

  /** The output of a statement `COPY … TO STDOUT`, in its text format. For pools that are not pipelined. */
  async *copyOut(sql: string): AsyncGenerator<Buffer> {
    let isComplete = false;
    try {
      yield* this.borrowed.client.query(copyTo(sql)) as AsyncIterable<Buffer>;
      isComplete = true;
    } catch (cause) {
      throw this.failure(cause);
    } finally {
      // The rest of the output is on the connection.
      if (!isComplete) this.isLost = true;
    }
  }

  /** `copy`, and then statements without parameters, as one transaction in one round trip. */
  async copyAndCommit(sql: string, rows: Iterable<string>, then: readonly string[]): Promise<void> {
    const begin = this.borrowed.hasSettings ? 'BEGIN' : beginWithoutSessionSql(this.source.settings);
    this.isInTransaction = true;
    try {
      await this.copy([begin, sql, ...then, 'COMMIT'].join('; '), rows);
      this.endTransaction();
    } catch (error) {
      // The first error is the one to report.
      await this.rollback().catch(() => undefined);
      throw error;
    }
  }

  /** Begins a transaction. A connection that was lost while it was idle is replaced. */
  async begin({ settings, statementTimeoutMs }: TransactionSettings = {}): Promise<void> {
    const start = performance.now();
    const all =
      statementTimeoutMs === undefined
        ? settings
        : { ...settings, statement_timeout: String(Math.round(statementTimeoutMs)) };
    try {
      await this.sendBegin(all);
    } catch (error) {
      if (!this.isLost || performance.now() - start > MAX_REPLACE_MS) throw error;
      await this.replace();
      await this.sendBegin(all);
    }
    this.isInTransaction = true;
    this.statementTimeoutMs = statementTimeoutMs ?? this.borrowed.statementTimeoutMs;
  }

  async commit(): Promise<void> {
    await this.guard(() => this.borrowed.client.query(this.config('COMMIT')));
    this.endTransaction();
  }

  async rollback(): Promise<void> {
    // A lost connection has nothing to roll back. If the server refuses writes, the connection is closed instead: then a
    // pooler closes its own to that server too.
    if (this.isLost) return;
    await this.guard(() => this.borrowed.client.query(this.config('ROLLBACK')));
    this.endTransaction();
  }

  /** Puts no statement of `work` into a transaction, for `CREATE INDEX CONCURRENTLY`. A pooler may leave out the settings. */
  async withoutTransaction<T>(work: () => Promise<T>): Promise<T> {
    this.isBare = true;
    return work().finally(() => (this.isBare = false));
  }

  /** The connection is closed if it cannot be used again. */
  release(): void {
    // A connection that was lost, and that could not be replaced.
    if (this.isReleased) return;
    const { client, hasSettings } = this.borrowed;
    // A pooler closes the connection to its server if the client leaves within a transaction.
    if (this.isReadOnly && !hasSettings) client.query('BEGIN').catch(() => undefined);
    client.release(this.isLost || this.isInTransaction || this.running > 0);
  }

  private async runTransaction<T>(work: () => Promise<T>, settings: TransactionSettings): Promise<T> {
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

  private endTransaction(): void {
    this.isInTransaction = false;
    this.statementTimeoutMs = this.borrowed.statementTimeoutMs;
  }

  private async sendBegin(settings: Settings | undefined): Promise<void> {
    const { hasSettings, client } = this.borrowed;
    const sql = hasSettings ? beginSql(settings) : beginWithoutSessionSql(this.source.settings, settings);
    await this.guard(() => client.query(this.config(sql)));
  }

  private send(text: string, values: unknown[] | undefined): Promise<pg.QueryResult> {
    const { hasSettings, client } = this.borrowed;
    const isPrepared =
      (this.options.prepared ?? this.source.isPrepared) &&
      hasSettings &&
      this.source.canPrepare &&
      values !== undefined;
    const config = this.config(text, values, isPrepared ? nameOf(text) : undefined);
    const needsTransaction = !hasSettings && !this.isInTransaction && !this.isBare;
    return this.guard(() => (needsTransaction ? this.sendWithSettings(config) : client.query(config)));
  }

  /** A statement of its own behind a pooler: a transaction in one round trip. */
  private async sendWithSettings(config: TimedQuery): Promise<pg.QueryResult> {
    const { client } = this.borrowed;
    const begin = this.config(beginWithoutSessionSql(this.source.settings));
    const [, result] = await sendAll(client, [begin, config, this.config('COMMIT')], this.source.isPipelined);
    return result as pg.QueryResult;
  }

  private config(text: string, values?: unknown[], name?: string): TimedQuery {
    return { text, values, name, query_timeout: this.statementTimeoutMs + RESPONSE_MARGIN_MS };
  }

  private async guard<T>(run: () => Promise<T>): Promise<T> {
    this.running++;
    try {
      const result = await run();
      expectReplicated(this.borrowed.client);
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
    if (isReadOnlyServer(error)) {
      this.isReadOnly = true;
      this.source.withdrawTrust();
    }
    if (isLostStatement(error)) this.source.reportLostStatement();
    return error;
  }

  private async replace(): Promise<void> {
    this.borrowed.client.release(true);
    this.isReleased = true;
    this.borrowed = await this.source.borrow();
    this.isReleased = false;
    this.isLost = this.isReadOnly = false;
    this.endTransaction();
  }
}

const pause = (attempt: number) => delay(Math.random() * 10 * 2 ** attempt);
