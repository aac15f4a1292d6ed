import { pipeline } from 'node:stream/promises';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { ENV, type ResolvedEnv } from '../config/env.js';
import { CONNECT_TIMEOUT_MS } from '../database/lane.js';
import { asDatabaseError, DatabaseConnectionError, sqlState, SQLSTATE } from '../database/postgres-errors.js';
import { timeOfUuidv7 } from '../database/uuid.js';
import { withTimeout } from '../errors/app-error.js';
import type { DayBytes } from './exchange-budget.js';
import { countBytes, createPartitions, storedIds } from './exchange-days.repository.js';
import { countExchanges } from './exchange-hours.repository.js';
import { COLUMNS, type ExchangeRow } from './exchange-row.js';

const STATEMENT_MS = 10_000;
/** Beyond this the connection counts as dead. */
const BATCH_MS = 15_000;

/** A partition that does not exist is reported as a check that has no name. */
const lacksPartition = (error: unknown): boolean =>
  sqlState(error) === SQLSTATE.checkViolation && (error as pg.DatabaseError).constraint === undefined;

/**
 * Whether PostgreSQL refused the rows themselves: their data (22), a constraint (23) or their size (54). After any other error the
 * rows may be stored later, by another server or on another connection.
 */
export function isRowError(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && /^(22|23|54)/.test(state) && state !== SQLSTATE.uniqueViolation;
}

/**
 * Writes batches of exchanges with COPY, on a connection of its own: requests never wait for it. The commit is as durable as that of a
 * ticket. A connection on which anything failed is closed: it may lead to a standby, or to a server that does not answer any more.
 */
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

  /**
   * Writes all rows or none, and returns the bytes of the day. `isRepeated`: an earlier attempt failed, and may have been committed
   * without a response; the rows that it stored are left out.
   */
  async write(rows: readonly ExchangeRow[], { isRepeated = false } = {}): Promise<DayBytes> {
    const client = await this.pool.connect().catch((error: unknown) => {
      throw new DatabaseConnectionError(error);
    });
    try {
      const work = writeOn(client, rows, isRepeated);
      const bytes = await withTimeout(work, BATCH_MS, 'the exchanges could not be written in time');
      client.release();
      return bytes;
    } catch (error) {
      client.release(true);
      if (lacksPartition(error)) await this.createPartitions(rows, error);
      throw asDatabaseError(error);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.end();
  }

  /** The job that creates them may have failed for days. Throws an error that lets the rows be written again. */
  private async createPartitions(rows: readonly ExchangeRow[], cause: unknown): Promise<never> {
    const times = rows.map(({ id }) => timeOfUuidv7(id));
    await createPartitions(this.pool, new Date(Math.min(...times)), new Date(Math.max(...times)));
    throw new Error('a partition of exchanges was missing, and has been created', { cause });
  }
}

const ignore = () => undefined;

async function writeOn(client: pg.PoolClient, all: readonly ExchangeRow[], isRepeated: boolean): Promise<DayBytes> {
  await client.query(`BEGIN; SET LOCAL statement_timeout = ${STATEMENT_MS}`);
  const stored = isRepeated
    ? await storedIds(
        client,
        all.map(({ id }) => id),
      )
    : NONE;
  const rows = stored.size === 0 ? all : all.filter(({ id }) => !stored.has(id));
  const text = Buffer.from(textOf(rows));
  await pipeline([text], client.query(copyFrom(`COPY exchanges (${COLUMNS.join(', ')}) FROM STDIN`)));
  // Last, because other instances wait for these rows until the commit.
  await countExchanges(client, rows);
  const keyless = Buffer.byteLength(textOf(rows.filter(({ lane }) => lane !== 'known')));
  const bytes = await countBytes(client, { total: text.length, keyless });
  await client.query('COMMIT');
  return bytes;
}

const NONE: ReadonlySet<string> = new Set();

const textOf = (rows: readonly ExchangeRow[]): string => rows.map(({ line }) => `${line}\n`).join('');
