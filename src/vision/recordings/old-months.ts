import { Inject, Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { ENV, type ResolvedEnv } from '../../config/env.js';
import { Database } from '../../database/database.js';
import { dropPartition, partitionsBefore } from '../../database/partitions.repository.js';
import { type Partition, PARTITIONED } from '../../database/partitions.rules.js';
import { isDatabaseSlow } from '../../database/postgres-errors.js';
import { inTransaction } from '../../database/transaction.js';
import { lockRemoval } from '../holds/holds.repository.js';
import { deleteFromRest, forgetMonth, hasRecent, isKept, lockMonth, rememberMonth } from './old-months.repository.js';

const DAY_MS = 86_400_000;
/** Rows of the partition of the rest that are deleted in one transaction. */
const BATCH = 1_000;

/**
 * Drops the months of recordings that ended more than `VIDEO_ROWS_DAYS` ago and of which nothing is kept. A month goes as a whole, in one
 * transaction with what stays known of it: one that is interrupted changes nothing, and the next run does it.
 */
@Injectable()
export class OldMonths implements OnModuleDestroy {
  private readonly logger = new Logger('Retention');
  private isStopping = false;

  constructor(
    private readonly dataSource: DataSource,
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'VIDEO_ROWS_DAYS'>,
    private readonly database: Database,
  ) {}

  onModuleDestroy(): void {
    this.isStopping = true;
  }

  /** Throws where the holds cannot be asked: then nothing is dropped. */
  async drop(): Promise<void> {
    const days = this.env.VIDEO_ROWS_DAYS;
    if (days === 0) return;
    const before = Date.now() - days * DAY_MS;
    for (const month of await partitionsBefore(this.dataSource, PARTITIONED.recordings, before)) {
      if (this.isStopping) return;
      if (await this.dropMonth(month)) this.logger.log(`the recordings of ${month.from.slice(0, 7)} were dropped`);
    }
    await this.deleteRest(new Date(before));
  }

  /** A month that others read or write for long is tried again by the next run. */
  private async dropMonth(month: Partition): Promise<boolean> {
    try {
      return await this.inBulk(async (manager) => {
        if (!(await lockMonth(manager, month))) return false;
        if ((await isKept(manager, month)) || (await hasRecent(manager, month))) return false;
        await forgetMonth(manager, month);
        await lockRemoval(manager);
        return dropPartition(manager, PARTITIONED.recordings, month.name, async () => {
          if (await isKept(manager, month)) throw new KeptError();
          await rememberMonth(manager, month);
        });
      });
    } catch (error) {
      if (error instanceof KeptError) return false;
      if (!isDatabaseSlow(error)) throw error;
      this.logger.warn({ err: error }, `the recordings of ${month.from.slice(0, 7)} could not be dropped yet`);
      return false;
    }
  }

  private async deleteRest(before: Date): Promise<void> {
    let deleted = BATCH;
    while (deleted === BATCH && !this.isStopping) {
      deleted = await this.inBulk(async (manager) => {
        await lockRemoval(manager);
        return deleteFromRest(manager, PARTITIONED.recordings.rest, before, BATCH);
      });
    }
  }

  /** To ask about a month takes longer than a statement of a request may. */
  private inBulk<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return inTransaction(this.dataSource, work, { lane: this.database.bulk });
  }
}

/** Undoes what was done for a month that a hold or a new attempt keeps since. */
class KeptError extends Error {}
