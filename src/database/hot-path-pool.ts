import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import { ENV, type SettledEnv } from '../config/env.js';
import { type Connection, type SharedConnection, withClient } from './connection.js';
import { CONNECT_TIMEOUT_MS } from './data-source.js';
import { PoolClient } from './pool-client.js';
import { isDatabaseUnavailable } from './postgres-errors.js';

/** The most that are lent at once, beside the shared one. */
export const HOT_PATH_CONNECTIONS = 2;

/**
 * Connections for the hot path alone: no list of the administration can keep it waiting, and their settings are its own.
 * Plans are generic: for a handful of rows PostgreSQL would rather make one for every execution, which cost five times
 * what it saved (measured: 190 against 35 µs).
 */
@Injectable()
export class HotPathPool implements OnApplicationShutdown {
  private readonly config: pg.ClientConfig;
  private readonly pool: pg.Pool;
  private shared: SharedClient | undefined;

  constructor(@Inject(ENV) env: SettledEnv) {
    this.config = {
      connectionString: env.DATABASE_URL,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      application_name: 'haulbridge hot path',
      keepAlive: true,
      pipeline: true,
    };
    this.pool = new pg.Pool({
      ...this.config,
      max: HOT_PATH_CONNECTIONS,
      Client,
      // The pool waits for it, though its type does not say so.
      onConnect: (client): unknown => prepare(client),
      idleTimeoutMillis: 0,
    });
    // An idle connection that is lost leaves the pool by itself, and who next asks gets a new one.
    this.pool.on('error', ignore);
  }

  /** Lends a connection to `work`: one, to nobody else, and no longer than the work takes. */
  async lend<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    // What is under way when it is lost fails with the same error.
    client.on('error', ignore);
    let lost = false;
    try {
      return await withClient(client, work);
    } catch (error) {
      // The server says goodbye before it hangs up: such a connection may still look sound.
      lost = isDatabaseUnavailable(error);
      throw error;
    } finally {
      client.off('error', ignore);
      client.release(lost);
    }
  }

  /**
   * Lends the connection that all such work has in common. Statements of one travel behind those of another without
   * waiting for their answers: the server finds the next where it would have slept until it came, which is dear.
   */
  share<T>(work: (connection: SharedConnection) => Promise<T>): Promise<T> {
    // Refused, in the pool's words.
    if (this.pool.ending) return this.lend(work);
    if (this.shared?.retired !== false) this.shared = new SharedClient(this.config);
    return this.shared.use(work);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.shared?.retire(), this.pool.end()]);
  }
}

/** A connection that any number use at the same time. It is kept when nobody does: to take and return one takes its time. */
class SharedClient {
  /** Whether nobody may begin to use it any more. */
  retired = false;
  private readonly client: Promise<pg.Client>;
  private readonly unused = Promise.withResolvers<void>();
  private users = 0;

  constructor(config: pg.ClientConfig) {
    this.client = this.connect(config);
    this.client.catch(() => this.retire());
  }

  async use<T>(work: (connection: SharedConnection) => Promise<T>): Promise<T> {
    this.users++;
    try {
      return await withClient(await this.client, work);
    } catch (error) {
      if (isDatabaseUnavailable(error)) void this.retire();
      throw error;
    } finally {
      this.users--;
      if (this.retired) void this.retire();
    }
  }

  /** Resolves when the last who uses it is done, and it is being closed. */
  retire(): Promise<void> {
    this.retired = true;
    if (this.users === 0) this.unused.resolve(this.client.then((client) => void client.end(), ignore));
    return this.unused.promise;
  }

  private async connect(config: pg.ClientConfig): Promise<pg.Client> {
    const client = new Client(config);
    client.on('error', () => void this.retire());
    await client.connect();
    try {
      await prepare(client);
    } catch (error) {
      void client.end();
      throw error;
    }
    return client;
  }
}

/** pg cannot tell by type that `query` of a subclass takes all that its own does. */
const Client = PoolClient as unknown as typeof pg.Client;

const ignore = () => undefined;

async function prepare(client: pg.ClientBase): Promise<void> {
  await PoolClient.prepare(client);
  await client.query('SET plan_cache_mode = force_generic_plan');
}
