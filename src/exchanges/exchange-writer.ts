import { pipeline } from 'node:stream/promises';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { ENV, type ResolvedEnv } from '../config/env.js';
import { CONNECT_TIMEOUT_MS } from '../database/lane.js';
import { asDatabaseError, DatabaseConnectionError, sqlState, SQLSTATE } from '../database/postgres-errors.js';
import { withTimeout } from '../errors/app-error.js';
import { countExchanges } from './exchange-hours.repository.js';
import { COLUMNS, type ExchangeRow } from './exchange-row.js';

const STATEMENT_MS = 10_000;
/** Beyond this the connection counts as dead. */
const BATCH_MS = 15_000;

/** The commit does not wait for the disk: after a crash of the database the last exchanges may be absent, but never partly. */
const BEGIN = `BEGIN; SET LOCAL synchronous_commit = off; SET LOCAL statement_timeout = ${STATEMENT_MS}`;

/** Writes batches of exchanges with COPY, on a connection of its own: requests never wait for it. */
@Injectable()
export class ExchangeWriter implements OnApplicationShutdown {
  private readonly pool: pg.Pool;

  constructor(@Inject(ENV) env: Pick<ResolvedEnv, 'DATABASE_URL'>) {
    this.pool = new pg.Pool({
      connectionString: env.DATABASE_URL,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      application_name: 'haulbridge exchanges',
      keepAlive: true,
      max: 1,
      idleTimeoutMillis: 10_000,
    });
    // A lost connection fails the statement that it was running. Without these listeners it would end the process: the server may
    // close a connection in the moment in which the pool hands it out.
    this.pool.on('error', ignore).on('connect', (client) => client.on('error', ignore));
  }

  /** Writes all rows or none. */
  async write(rows: readonly ExchangeRow[]): Promise<void> {
    const client = await this.pool.connect().catch((error: unknown) => {
      throw new DatabaseConnectionError(error);
    });
    let isBroken = true;
    try {
      await withTimeout(writeOn(client, rows), BATCH_MS, 'the exchanges could not be written in time');
      isBroken = false;
    } catch (error) {
      // A repeated id was written by an attempt whose commit arrived and whose response was lost.
      isBroken = sqlState(error) === undefined;
      if (!isBroken) await client.query('ROLLBACK').catch(() => (isBroken = true));
      if (sqlState(error) !== SQLSTATE.uniqueViolation || rows.length > 1) throw asDatabaseError(error);
    } finally {
      client.release(isBroken);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.end();
  }
}

const ignore = () => undefined;

async function writeOn(client: pg.PoolClient, rows: readonly ExchangeRow[]): Promise<void> {
  await client.query(BEGIN);
  const text = rows.map(({ line }) => `${line}\n`).join('');
  await pipeline([text], client.query(copyFrom(`COPY exchanges (${COLUMNS.join(', ')}) FROM STDIN`)));
  // Last, because other instances wait for these rows until the commit.
  await countExchanges(client, rows);
  await client.query('COMMIT');
}
