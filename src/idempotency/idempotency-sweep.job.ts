import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { DataSource } from 'typeorm';
import { deleteExpired } from './idempotency.repository.js';

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
      const count = await deleteExpired(this.dataSource, batch);
      deleted += count;
      if (count < batch) break;
    }
    return deleted;
  }

  onModuleDestroy(): void {
    this.stopping = true;
  }
}
