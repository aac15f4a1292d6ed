import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import { ENV, type SettledEnv } from '../config/env.js';
import { Connection } from './connection.js';
import { CONNECT_TIMEOUT_MS } from './data-source.js';
import { PoolClient } from './pool-client.js';
import { isDatabaseUnavailable } from './postgres-errors.js';

/** The most that are lent at once. */
export const HOT_PATH_CONNECTIONS = 2;

/**
 * Connections for the hot path alone: no list of the administration can keep it waiting, and their settings are its own.
 * Plans are generic: for a handful of rows PostgreSQL would rather make one for every execution, which cost five times
 * what it saved (measured: 190 against 35 µs).
 */
@Injectable()
export class HotPathPool implements OnApplicationShutdown {
  private readonly pool: pg.Pool;

  constructor(@Inject(ENV) env: SettledEnv) {
    this.pool = new pg.Pool({
      connectionString: env.DATABASE_URL,
      max: HOT_PATH_CONNECTIONS,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      application_name: 'haulbridge hot path',
      Client: PoolClient as unknown as typeof pg.Client,
      // The pool waits for it, though its type does not say so.
      onConnect: (client): unknown => prepare(client),
      keepAlive: true,
      idleTimeoutMillis: 0,
      pipeline: true,
    });
    // An idle connection that is lost leaves the pool by itself, and who next asks gets a new one.
    this.pool.on('error', ignore);
  }

  /** Lends a connection to `work`: one, and no longer than the work takes. */
  async lend<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    const connection = new Connection(client);
    // What is under way fails with the same error.
    client.on('error', ignore);
    let lost = false;
    try {
      connection.refreshPlans();
      return await work(connection);
    } catch (error) {
      // The server says goodbye before it hangs up: such a connection may still look sound.
      lost = isDatabaseUnavailable(error);
      throw error;
    } finally {
      await connection.quiet();
      client.off('error', ignore);
      client.release(lost);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.end();
  }
}

const ignore = () => undefined;

async function prepare(client: pg.ClientBase): Promise<void> {
  await PoolClient.prepare(client);
  await client.query('SET plan_cache_mode = force_generic_plan');
}
