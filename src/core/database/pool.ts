import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import pg from 'pg';
import { watchCommits } from './local-commit.js';
import {
  DatabaseConnectionError,
  endsConnection,
  isLostStatement,
  isTransient,
  SQLSTATE,
  sqlState,
} from './postgres-errors.js';
import { INSPECT_SQL, type Settings, startupOptions, withoutOptions } from './session-settings.js';
import { Session, type TransactionSettings } from './session.js';
import { Sql, type StatementOptions } from './sql.js';

/** How long a request waits for a new or free connection before the database counts as unavailable (decision 13). */
const CONNECT_TIMEOUT_MS = 3000;

/** Firewalls and balancers forget a silent connection after 4 to 6 minutes. */
const KEEP_ALIVE_MS = 60_000;

/** How long statements are not prepared after a pooler has lost one. */
const UNPREPARED_MS = 60_000;

/** Minimum time for a statement, even if its caller waited long for the connection: 3 s and this are less than 5 s (decision 13). */
const MIN_STATEMENT_MS = 500;

/** Attempts after deadlocks and serialization failures. */
const MAX_ATTEMPTS = 5;

/** A connection that was lost while it was idle is replaced if the caller has not waited longer than this. */
const MAX_REPLACE_MS = 1000;

/** How long a shared connection takes new callers, so that a busy one is given back, and replaced when it is old. */
const SHARED_MS = 1000;

/** A database that stays read-only is not connected to for each write. */
const RENEWAL_MS = 1000;

export interface PoolOptions {
  readonly databaseUrl: string;
  /** Of the connections, as the server shows it. */
  readonly applicationName: string;
  readonly connections: number;
  /** How long a statement may take, its wait for a connection included. */
  readonly statementTimeoutMs: number;
  /** How long the server waits for the next statement of a transaction. */
  readonly transactionIdleMs: number;
  /** Of each session, or of each transaction behind a pooler that keeps no sessions. */
  readonly settings?: Settings;
  /** Settings that only a new session may change. A pooler in between leaves them out. */
  readonly startup?: Settings;
  /** Sends statements without waiting for the responses of earlier ones. Without COPY, which pg refuses then. */
  readonly isPipelined: boolean;
  /** Prepares statements by default. */
  readonly isPrepared?: boolean;
  /** How long an unused connection stays open; 0 for ever. */
  readonly idleMs: number;
  readonly maxLifetimeSeconds?: number;
  readonly connectTimeoutMs?: number;
}

export interface TransactionOptions extends TransactionSettings {
  /** 1 for work that cannot run again, because it reads a stream. */
  readonly attempts?: number;
}

/** The answer of a connection to `INSPECT_SQL`. */
interface Inspection {
  /** False behind a pooler that gives each transaction another session. */
  readonly keepsSettings: boolean;
  readonly isReadOnly: boolean;
}

/** Of one pool; waiting are callers without a connection. */
export type ConnectionCounts = Readonly<Record<'open' | 'idle' | 'waiting', number>>;

/** Connections for one kind of work, so that other work cannot use them up. The only place that opens connections. */
export class Pool extends Sql {
  private readonly logger = new Logger('Database');
  private readonly connectTimeoutMs: number;
  private readonly own: ReturnType<typeof withoutOptions>;
  private pool: pg.Pool;
  private hasStartupOptions = true;
  private keepsSettings = true;
  private shared: SharedSession | undefined;
  private retrying: Promise<boolean> | undefined;
  private renewedAt = -Infinity;
  private unpreparedUntil = -Infinity;
  private hasReportedLostStatement = false;
  private closed: Promise<void> | undefined;

  /** `onReadOnly` is called when a server refuses a write. */
  constructor(
    readonly options: PoolOptions,
    private readonly onReadOnly: () => void = () => this.renew(),
  ) {
    super();
    this.connectTimeoutMs = options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS;
    this.own = withoutOptions(options.databaseUrl);
    this.pool = this.open();
  }

  run(text: string, values?: readonly unknown[], options?: StatementOptions): Promise<pg.QueryResult> {
    return this.attempted((session) => session.run(text, values, options));
  }

  /**
   * Runs `work` in one transaction (READ COMMITTED) and returns its result after the commit. After a deadlock or a serialization
   * failure `work` runs again: it must have no effect outside the database. It never runs again after a lost connection, because
   * the commit may have succeeded.
   */
  transaction<T>(work: (session: Session) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    let hasBegun = false;
    const run = (session: Session) =>
      session.inTransaction(() => {
        hasBegun = true;
        return work(session);
      }, options);
    return this.attempted(run, options.attempts, () => hasBegun);
  }

  /** Runs `work` on a connection that no other caller uses meanwhile. */
  async use<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.connect();
    try {
      return await work(session);
    } finally {
      this.release(session);
    }
  }

  /**
   * Runs `work`, which sends statements and no transaction, on a connection that other callers use meanwhile: the server has the next
   * statement before it has ended the one before. One that waits for a lock delays those behind it. For pools that are pipelined.
   */
  share<T>(work: (session: Session) => Promise<T>): Promise<T> {
    if (this.shared?.isOpenFor(this.pool) !== true) {
      this.shared = new SharedSession(this.pool, this.connect(), (session) => this.release(session));
    }
    return this.shared.use(work);
  }

  /**
   * Opens connections anew, because the server of the present ones refuses writes: `DATABASE_URL` may lead to another one now. Those in
   * use are closed when they are released.
   */
  renew(): void {
    const now = performance.now();
    if (now - this.renewedAt < RENEWAL_MS || this.closed !== undefined) return;
    this.renewedAt = now;
    this.replaceBy(this.open());
  }

  /** Asks a connection whether its server takes writes. */
  async takesWrites(): Promise<boolean> {
    const state = await this.first<Inspection>(INSPECT_SQL, []);
    if (state?.isReadOnly === true) this.onReadOnly();
    return state?.isReadOnly === false;
  }

  /** Every connection is in use. */
  get isBusy(): boolean {
    return this.pool.idleCount === 0 && this.pool.totalCount >= this.options.connections;
  }

  counts(): ConnectionCounts {
    const { totalCount, idleCount, waitingCount } = this.pool;
    // An idle connection is handed out at once, but not before this code has ended: a scrape would count its own queries.
    return { open: totalCount, idle: idleCount, waiting: Math.max(0, waitingCount - idleCount) };
  }

  async close(): Promise<void> {
    this.closed ??= this.pool.end();
    await this.closed;
  }

  /**
   * Tries again what had no effect: a deadlock, a serialization failure, a prepared statement that a pooler has lost, and once a
   * connection that was lost before a transaction had begun.
   */
  private async attempted<T>(
    work: (session: Session) => Promise<T>,
    attempts = MAX_ATTEMPTS,
    hasBegun = () => true,
  ): Promise<T> {
    const start = performance.now();
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.use(work);
      } catch (error) {
        const canReplace = !hasBegun() && attempt === 1 && performance.now() - start < MAX_REPLACE_MS;
        if (canReplace && endsConnection(error)) continue;
        const canRetry = isTransient(error) || isLostStatement(error);
        if (!canRetry || attempt >= attempts) throw error;
        await delay(Math.random() * 10 * 2 ** attempt);
      }
    }
  }

  private async connect(): Promise<Session> {
    const start = performance.now();
    const client = await this.take();
    const { keepsSettings } = this;
    const { isPipelined, isPrepared = false } = this.options;
    const left = this.options.statementTimeoutMs - (performance.now() - start);
    const statementTimeoutMs = Math.max(left, MIN_STATEMENT_MS);
    const canPrepare = performance.now() >= this.unpreparedUntil;
    const rules = { settings: this.settings, keepsSettings, isPipelined, isPrepared, canPrepare, statementTimeoutMs };
    return new Session(client, rules);
  }

  private release(session: Session): void {
    session.release();
    if (session.isReadOnly) this.onReadOnly();
    if (session.hasLostStatement) this.reportLostStatement();
  }

  private get settings(): Settings {
    const { statementTimeoutMs, transactionIdleMs, settings } = this.options;
    return {
      statement_timeout: String(statementTimeoutMs),
      idle_in_transaction_session_timeout: String(transactionIdleMs),
      ...settings,
    };
  }

  private reportLostStatement(): void {
    this.unpreparedUntil = performance.now() + UNPREPARED_MS;
    if (this.hasReportedLostStatement) return;
    this.hasReportedLostStatement = true;
    this.logger.warn('a pooler has lost a prepared statement: statements are prepared again after a minute');
  }

  private async take(): Promise<pg.PoolClient> {
    const { pool } = this;
    try {
      return await pool.connect();
    } catch (error) {
      if (pool !== this.pool) return this.take();
      if (sqlState(error) !== SQLSTATE.protocolViolation || pool.ending) throw new DatabaseConnectionError(error);
      this.retrying ??= this.retryWithoutOptions().finally(() => (this.retrying = undefined));
      if (!(await this.retrying)) throw new DatabaseConnectionError(error);
      return this.take();
    }
  }

  /**
   * A pooler that does not know a startup parameter refuses with the SQLSTATE of its outages. So the connection decides: if only
   * one without startup options is accepted, before and after, each transaction gets the settings from then on.
   */
  private async retryWithoutOptions(): Promise<boolean> {
    if (!this.hasStartupOptions) return false;
    const { pool } = this;
    const plain = this.open(false);
    if (!(await connects(plain)) || (await connects(pool)) || this.closed !== undefined) {
      await plain.end();
      return false;
    }
    this.hasStartupOptions = false;
    this.replaceBy(plain);
    return true;
  }

  private replaceBy(pool: pg.Pool): void {
    const old = this.pool;
    this.pool = pool;
    // Only startup options are kept.
    this.keepsSettings = this.hasStartupOptions;
    old.end().catch(ignore);
  }

  private open(hasStartupOptions = this.hasStartupOptions): pg.Pool {
    const { applicationName, connections, idleMs, isPipelined, maxLifetimeSeconds = 0 } = this.options;
    const { url, options } = this.own;
    const startup = hasStartupOptions
      ? startupOptions({ ...this.settings, ...this.options.startup }, options)
      : options;
    const pool = new pg.Pool({
      connectionString: url,
      ...(startup === undefined ? {} : { options: startup }),
      application_name: applicationName,
      max: connections,
      connectionTimeoutMillis: this.connectTimeoutMs,
      idleTimeoutMillis: idleMs,
      maxLifetimeSeconds,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      pipeline: isPipelined,
      // The pool awaits it, although its type returns void.
      onConnect: (client): unknown => this.inspect(client),
    });
    // A lost connection fails the statement that it was running, and the pool removes an idle one. Without these listeners
    // it would end the process: the server may close a connection in the moment in which the pool hands it out.
    pool.on('error', ignore).on('connect', (client) => {
      client.on('error', ignore);
      watchCommits(client);
    });
    return pool;
  }

  private async inspect(client: pg.ClientBase): Promise<void> {
    const query = { text: INSPECT_SQL, query_timeout: this.connectTimeoutMs };
    const { rows } = await client.query<Inspection>(query);
    // One connection behind a pooler is enough: settings that are sent once more do no harm.
    if (rows[0]?.keepsSettings !== true) this.keepsSettings = false;
  }
}

/** A session that is released when nobody uses it. */
class SharedSession {
  private users = 0;
  private hasEnded = false;
  private readonly begun = performance.now();

  constructor(
    private readonly pool: pg.Pool,
    private readonly session: Promise<Session>,
    private readonly release: (session: Session) => void,
  ) {}

  /** False for users that come after a failure, or too late: the next ones get a new session. */
  isOpenFor(pool: pg.Pool): boolean {
    return pool === this.pool && !this.hasEnded && performance.now() - this.begun < SHARED_MS;
  }

  async use<T>(work: (session: Session) => Promise<T>): Promise<T> {
    this.users++;
    try {
      return await work(await this.session);
    } catch (error) {
      this.hasEnded = true;
      throw error;
    } finally {
      this.users--;
      if (this.users === 0) this.end();
    }
  }

  private end(): void {
    this.hasEnded = true;
    this.session.then(this.release, ignore);
  }
}

const ignore = () => undefined;

async function connects(pool: pg.Pool): Promise<boolean> {
  try {
    const client = await pool.connect();
    client.release();
    return true;
  } catch {
    return false;
  }
}
