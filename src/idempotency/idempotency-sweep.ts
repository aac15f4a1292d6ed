import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { DataSource } from 'typeorm';
import { KEPT_FOR } from './claims.js';

const EVERY_MS = 10 * 60_000;

/** Rows of one statement: few enough that no request waits long for one of them. */
const BATCH = 1000;

/** Removes answers that are no longer kept (decision 16). Several instances may do it at once: each skips what another has in hand. */
@Injectable()
export class IdempotencySweep implements OnModuleDestroy {
  private stopping = false;

  constructor(private readonly dataSource: DataSource) {}

  /** Returns how many rows are gone. */
  @Interval('idempotency sweep', EVERY_MS)
  async sweep(batch = BATCH): Promise<number> {
    let gone = 0;
    while (!this.stopping) {
      const removed = await this.sweepBatch(batch);
      gone += removed;
      if (removed < batch) break;
    }
    return gone;
  }

  onModuleDestroy(): void {
    this.stopping = true;
  }

  private async sweepBatch(batch: number): Promise<number> {
    const [, gone] = await this.dataSource.query<[unknown[], number]>(
      `WITH old AS MATERIALIZED (
         SELECT hauler_id, path, key FROM idempotency_keys
          WHERE created_at <= now() - interval '${KEPT_FOR}'
          ORDER BY created_at LIMIT $1 FOR UPDATE SKIP LOCKED)
       DELETE FROM idempotency_keys AS kept USING old
        WHERE (kept.hauler_id, kept.path, kept.key) = (old.hauler_id, old.path, old.key)`,
      [batch],
    );
    return gone;
  }
}
