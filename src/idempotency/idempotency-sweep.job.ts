import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { DataSource } from 'typeorm';
import { KEPT_FOR } from './idempotency.repository.js';

const EVERY_MS = 10 * 60_000;

/** Rows per statement: few enough that no request waits long for a lock. */
const BATCH = 1000;

/** Deletes expired answers (decision 16). Several instances may run it at once: each skips rows that another has locked. */
@Injectable()
export class IdempotencySweep implements OnModuleDestroy {
  private stopping = false;

  constructor(private readonly dataSource: DataSource) {}

  /** Returns how many rows it deleted. */
  @Interval('idempotency sweep', EVERY_MS)
  async sweep(batch = BATCH): Promise<number> {
    let deleted = 0;
    while (!this.stopping) {
      const count = await this.sweepBatch(batch);
      deleted += count;
      if (count < batch) break;
    }
    return deleted;
  }

  onModuleDestroy(): void {
    this.stopping = true;
  }

  private async sweepBatch(batch: number): Promise<number> {
    const [, count] = await this.dataSource.query<[unknown[], number]>(
      `WITH expired AS MATERIALIZED (
         SELECT hauler_id, path, key FROM idempotency_keys
          WHERE created_at <= now() - interval '${KEPT_FOR}'
          ORDER BY created_at LIMIT $1 FOR UPDATE SKIP LOCKED)
       DELETE FROM idempotency_keys AS kept USING expired
        WHERE (kept.hauler_id, kept.path, kept.key) = (expired.hauler_id, expired.path, expired.key)`,
      [batch],
    );
    return count;
  }
}
