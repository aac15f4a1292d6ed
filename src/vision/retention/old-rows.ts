import { Inject, Injectable, Logger } from '@nestjs/common';
import { ENV, type ResolvedEnv } from '../../core/config/env.js';
import { Database } from '../../core/database/database.js';
import { dropPartition, isEmpty, partitionsBefore } from '../../core/database/partitions.repository.js';
import { PARTITIONED } from '../../core/database/partitions.rules.js';
import { isDatabaseSlow } from '../../core/database/postgres-errors.js';
import type { Sql } from '../../core/database/sql.js';
import { lockRemoval } from '../holds/holds.repository.js';
import { deleteEnded, ENDED, type EndedRecording, findEnded } from './old-rows.repository.js';
import { monthsOfRows } from '../recordings/recording.rules.js';

const DAY_MS = 86_400_000;
/** Rows of one transaction. */
const BATCH = 1_000;

/**
 * Deletes the rows of recordings without a file that began more than `VIDEO_ROWS_DAYS` ago, batch by batch, and drops the months that
 * are empty then. A run that is interrupted has made progress, and the next one goes on.
 */
@Injectable()
export class OldRows {
  private readonly logger = new Logger('Retention');

  constructor(
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'VIDEO_ROWS_DAYS'>,
    private readonly database: Database,
  ) {}

  /** Throws where the holds cannot be asked: then nothing is deleted. */
  async delete(signal: AbortSignal): Promise<void> {
    const days = this.env.VIDEO_ROWS_DAYS;
    if (days === 0) return;
    const before = new Date(Date.now() - days * DAY_MS);
    for (const status of ENDED) {
      let last: EndedRecording | undefined;
      do {
        const batch = await this.inBulk((transaction) => findEnded(transaction, status, before, last, BATCH));
        last = batch.length < BATCH ? undefined : batch.at(-1);
        if (batch.length > 0) await this.deleteBatch(batch);
      } while (last !== undefined && !signal.aborted);
    }
    for (const { name } of await partitionsBefore(this.database, PARTITIONED.recordings, before.getTime())) {
      if (!signal.aborted && (await isEmpty(this.database, name))) await this.drop(name);
    }
  }

  private deleteBatch(batch: readonly EndedRecording[]): Promise<number> {
    const ids = batch.map(({ id }) => id);
    return this.inBulk(async (transaction) => {
      await lockRemoval(transaction);
      return deleteEnded(transaction, ids, monthsOfRows(batch));
    });
  }

  /** A month that others read or write for long is tried again by the next run. */
  private async drop(name: string): Promise<void> {
    try {
      await this.database.transaction((transaction) =>
        dropPartition(transaction, PARTITIONED.recordings, name, { onlyEmpty: true }),
      );
    } catch (error) {
      if (!isDatabaseSlow(error)) throw error;
      this.logger.warn({ err: error }, `the empty partition ${name} could not be dropped yet`);
    }
  }

  /** Both statements may take longer than one of a request. */
  private inBulk<T>(work: (transaction: Sql) => Promise<T>): Promise<T> {
    return this.database.transaction(work, { pool: 'bulk' });
  }
}
