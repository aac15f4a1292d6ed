import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import { ENV, type ResolvedEnv } from '../config/env.js';
import { Connection } from './connection.js';
import { CONNECT_TIMEOUT_MS } from './data-source.js';
import { DeadlinePool, PoolClient } from './pool-client.js';
import { isDatabaseUnavailable } from './postgres-errors.js';

/**
 * Two for batches of tickets without an `Idempotency-Key`, one for batches with keys, one for the look-up of API keys, one
 * for the readiness check: nobody waits for a connection of another.
 */
export const HOT_PATH_CONNECTIONS = 5;

/**
 * Generic plans are never made again while the tables' statistics stay the same, and a table may have been nearly empty
 * when its plan was made.
 */
const PLAN_LIFETIME_SECONDS = 60;

/**
 * Connections for ticket ingestion, its key look-up and the readiness check alone, so that an admin list cannot delay them. Plans are generic: PostgreSQL would make
 * a new plan for each batch, which took 190 µs instead of 35 µs.
 */
@Injectable()
export class HotPathPool implements OnApplicationShutdown {
  private readonly pool: pg.Pool;

  constructor(@Inject(ENV) env: ResolvedEnv) {
    this.pool = new DeadlinePool({
      connectionString: env.DATABASE_URL,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      application_name: 'haulbridge hot path',
      keepAlive: true,
      pipeline: true,
      max: HOT_PATH_CONNECTIONS,
      // pg's types do not accept a subclass that overrides `query`.
      Client: PoolClient as unknown as typeof pg.Client,
      // The pool awaits it, although its type returns void.
      onConnect: (client): unknown => prepare(client),
      idleTimeoutMillis: 0,
      maxLifetimeSeconds: PLAN_LIFETIME_SECONDS,
    });
    // The pool removes an idle connection that is lost.
    this.pool.on('error', () => undefined);
  }

  counts(): { open: number; idle: number; waiting: number } {
    const { totalCount, idleCount, waitingCount } = this.pool;
    return { open: totalCount, idle: idleCount, waiting: waitingCount };
  }

  /** Runs `work` on a connection that nobody else uses meanwhile. */
  async use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    let isLost = false;
    try {
      return await work(new Connection(client, { prepared: true }));
    } catch (error) {
      // The server reports a shutdown before it closes the connection, which still looks usable.
      isLost = isDatabaseUnavailable(error);
      throw error;
    } finally {
      client.release(isLost);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.end();
  }
}

async function prepare(client: pg.ClientBase): Promise<void> {
  await PoolClient.prepare(client);
  await client.query('SET plan_cache_mode = force_generic_plan');
}
