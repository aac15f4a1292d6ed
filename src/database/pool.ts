import pg from 'pg';
import { Logger } from '@nestjs/common';
import { watchCommits } from './local-commit.js';
import { DatabaseConnectionError, SQLSTATE, sqlState } from './postgres-errors.js';
import { INSPECT_SQL, type Settings, startupOptions, withoutOptions } from './session-settings.js';
import { type Borrowed, type ConnectionSource, Session, type SessionOptions } from './session.js';
import { waitedMs } from './waiting.js';

/** How long a request waits for a new or free connection before the database counts as unavailable (decision 13). */
const CONNECT_TIMEOUT_MS = 3000;

/** Firewalls and balancers forget a silent connection after 4 to 6 minutes. */
const KEEP_ALIVE_MS = 60_000;

/** How long a connection whose server refuses writes is used again, for reads. */
const READ_ONLY_LIFETIME_MS = 1000;

/** How long statements are not prepared after a pooler has lost one. */
const UNPREPARED_MS = 60_000;

/** Minimum time for a statement, even if its caller waited long for the connection. */
const MIN_STATEMENT_MS = 1000;

export interface PoolOptions {
  readonly databaseUrl: string;
  /** Of the connections, as the server shows it. */
  readonly applicationName: string;
  readonly connections: number;
  /** How long a statement may take, its wait for a connection included, before the server cancels it. */
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

/** The moment at which a server was found to refuse writes. Pools do not use connections that are older. */
export class Trust {
  private since = -Infinity;

  /** At most once a second, so that a database that stays read-only is not connected to for each write. */
  withdraw(): void {
    const now = performance.now();
    if (now - this.since > READ_ONLY_LIFETIME_MS) this.since = now;
  }

  includes({ openedAt, isReadOnly }: ConnectionState): boolean {
    return openedAt > this.since && !(isReadOnly && performance.now() - openedAt > READ_ONLY_LIFETIME_MS);
  }
}

/** The answer of a connection to `INSPECT_SQL`. */
interface Inspection {
  /** False behind a pooler that gives each transaction another session. */
  readonly hasSettings: boolean;
  readonly isReadOnly: boolean;
}

interface ConnectionState extends Inspection {
  readonly openedAt: number;
}

/** Of one pool; waiting are callers without a connection. */
export type ConnectionCounts = Readonly<Record<'open' | 'idle' | 'waiting', number>>;

/** Connections for one kind of work, so that other work cannot use them up. The only place that opens connections. */
export class Pool implements ConnectionSource {
  private readonly logger = new Logger('Database');
  private readonly connectTimeoutMs: number;
  private readonly states = new WeakMap<pg.ClientBase, ConnectionState>();
  private readonly own: ReturnType<typeof withoutOptions>;
  private pool: pg.Pool;
  private hasStartupOptions = true;
  private retrying: Promise<boolean> | undefined;
  private unpreparedUntil = -Infinity;
  private hasReportedLostStatement = false;
  private closed: Promise<void> | undefined;

  constructor(
    readonly options: PoolOptions,
    private readonly trust = new Trust(),
  ) {
    this.connectTimeoutMs = options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS;
    this.own = withoutOptions(options.databaseUrl);
    this.pool = this.open();
  }

  get isPipelined(): boolean {
    return this.options.isPipelined;
  }

  get isPrepared(): boolean {
    return this.options.isPrepared === true;
  }

  get settings(): Settings {
    const { statementTimeoutMs, transactionIdleMs, settings } = this.options;
    return {
      statement_timeout: String(statementTimeoutMs),
      idle_in_transaction_session_timeout: String(transactionIdleMs),
      ...settings,
    };
  }

  /** Runs `work` on a connection that no other caller uses meanwhile. */
  async use<T>(work: (session: Session) => Promise<T>, options?: SessionOptions): Promise<T> {
    const session = await this.connect(options);
    try {
      return await work(session);
    } finally {
      session.release();
    }
  }

  /** The caller releases the session. */
  async connect(options?: SessionOptions): Promise<Session> {
    return new Session(await this.borrow(), this, options);
  }

  /** A connection of the pool, without those whose server may refuse writes. Throws `DatabaseConnectionError`. */
  async borrow(): Promise<Borrowed> {
    const start = performance.now() - waitedMs();
    for (;;) {
      const client = await this.take();
      const state = this.states.get(client);
      if (state !== undefined && this.trust.includes(state)) {
        const left = this.options.statementTimeoutMs - (performance.now() - start);
        return { client, hasSettings: state.hasSettings, statementTimeoutMs: Math.max(left, MIN_STATEMENT_MS) };
      }
      client.release(true);
    }
  }

  withdrawTrust(): void {
    this.trust.withdraw();
  }

  get canPrepare(): boolean {
    return performance.now() >= this.unpreparedUntil;
  }

  reportLostStatement(): void {
    this.unpreparedUntil = performance.now() + UNPREPARED_MS;
    if (this.hasReportedLostStatement) return;
    this.hasReportedLostStatement = true;
    this.logger.warn('a pooler has lost a prepared statement: statements are prepared again after a minute');
  }

  /** Asks a connection whether its server takes writes. */
  async takesWrites(): Promise<boolean> {
    const [state] = await this.use((session) => session.query<Inspection[]>(INSPECT_SQL, []));
    if (state?.isReadOnly === true) this.trust.withdraw();
    return state?.isReadOnly === false;
  }

  /** Every connection is in use. */
  get isBusy(): boolean {
    return this.pool.idleCount === 0 && this.pool.totalCount >= this.options.connections;
  }

  counts(): ConnectionCounts {
    const { totalCount, idleCount, waitingCount } = this.pool;
    return { open: totalCount, idle: idleCount, waiting: waitingCount };
  }

  async close(): Promise<void> {
    this.closed ??= this.pool.end();
    await this.closed;
  }

  private async take(): Promise<pg.PoolClient> {
    const { pool } = this;
    try {
      return await pool.connect();
    } catch (error) {
      if (sqlState(error) !== SQLSTATE.protocolViolation || pool.ending) throw new DatabaseConnectionError(error);
      if (pool !== this.pool) return this.take();
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
    this.pool = plain;
    await pool.end();
    return true;
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
    const openedAt = performance.now();
    const query = { text: INSPECT_SQL, query_timeout: this.connectTimeoutMs };
    const { rows } = await client.query<Inspection>(query);
    const [state] = rows;
    if (state !== undefined) this.states.set(client, { openedAt, ...state });
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
