import { Injectable } from '@nestjs/common';
import type { DatabaseError } from 'pg';
import { Database } from '../core/database/database.js';
import type { Pool } from '../core/database/pool.js';
import type { Session } from '../core/database/session.js';
import { sqlState, SQLSTATE } from '../core/database/postgres-errors.js';
import { createPartition } from '../core/database/partitions.repository.js';
import { PARTITIONED, partitionOf, plannedPartitions } from '../core/database/partitions.rules.js';
import { timeOfUuidv7 } from '../core/database/uuid.js';
import { withTimeout } from '../core/errors/app-error.js';
import { COLUMNS, type ExchangeRow } from './exchange-row.js';
import { connectionHoursSql, hoursSql } from './exchange-tally.sql.js';
import { storedIds } from './exchanges.repository.js';

/** Beyond this the connection counts as dead. */
const BATCH_MS = 15_000;

/** A partition that does not exist is reported as a check that has no name. */
const lacksPartition = (error: unknown): boolean =>
  sqlState(error) === SQLSTATE.checkViolation && (error as DatabaseError).constraint === undefined;

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
 * ticket.
 */
@Injectable()
export class ExchangeWriter {
  private readonly pool: Pool;

  constructor({ exchanges }: Database) {
    this.pool = exchanges;
  }

  /** The size of the partition of a day (UTC) with its indexes; 0 before its first exchange. */
  async bytesOfDay(time: number): Promise<number> {
    const names = plannedPartitions(PARTITIONED.exchanges, time).map(({ name }) => name);
    const size = await this.pool.first<{ bytes: number }>(
      'SELECT coalesce(pg_total_relation_size(to_regclass($1::text)), 0)::float8 AS bytes',
      [names[0]],
    );
    return size?.bytes ?? 0;
  }

  /**
   * Writes all rows or none. `isRepeated`: an earlier attempt failed, and may have been committed
   * without a response; the rows that it stored are left out.
   */
  async write(all: readonly ExchangeRow[], { isRepeated }: { readonly isRepeated: boolean }): Promise<void> {
    try {
      await this.pool.use((session) => {
        const work = isRepeated ? writeMissing(session, all) : writeOn(session, all);
        return withTimeout(work, BATCH_MS, 'the exchanges could not be written in time');
      });
    } catch (error) {
      if (lacksPartition(error)) await this.createPartitions(all, error);
      throw error;
    }
  }

  /** The job that creates them may have failed for days. Throws an error that lets the rows be written again. */
  private async createPartitions(rows: readonly ExchangeRow[], cause: unknown): Promise<never> {
    for (const time of new Set(rows.map(({ id }) => timeOfUuidv7(id)))) {
      const partition = partitionOf(PARTITIONED.exchanges, time, time);
      if (partition === undefined) continue;
      await this.pool.transaction((transaction) => createPartition(transaction, PARTITIONED.exchanges, partition));
    }
    throw new Error('a partition of exchanges was missing, and has been created', { cause });
  }
}

async function writeMissing(session: Session, all: readonly ExchangeRow[]): Promise<void> {
  const stored = await storedIds(
    session,
    all.map(({ id }) => id),
  );
  const missing = all.filter(({ id }) => !stored.has(id));
  if (missing.length > 0) await writeOn(session, missing);
}

/** One round trip: a reader of the log waits for it, and each further one takes a turn of a busy event loop. */
async function writeOn(session: Session, rows: readonly ExchangeRow[]): Promise<void> {
  const text = rows.map(({ line }) => `${line}\n`).join('');
  // Last, because other instances wait for these rows until the commit.
  const calls = connectionHoursSql(rows);
  const counted = [hoursSql(rows), ...(calls === undefined ? [] : [calls])];
  await session.copyAndCommit(`COPY exchanges (${COLUMNS.join(', ')}) FROM STDIN`, [text], counted);
}
