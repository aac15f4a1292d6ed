import { type BeforeApplicationShutdown, Injectable, Module } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Database } from '../database/database.js';
import { Sweep } from '../database/sweep.js';
import { deleteExpired } from './idempotency.repository.js';

const EVERY_MS = 10 * 60_000;

/** Rows per statement: few enough that no request waits long for a lock. */
const BATCH = 1000;

/** Deletes expired answers (decision 16). Several instances may run it at once: each skips rows that another has locked. */
@Injectable()
export class IdempotencySweep implements BeforeApplicationShutdown {
  private readonly expiry = new Sweep((stopping) => this.sweep(BATCH, stopping));

  constructor(private readonly database: Database) {}

  @Interval('idempotency sweep', EVERY_MS)
  async regularly(): Promise<void> {
    await this.expiry.run();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.expiry.stop();
  }

  /** Returns how many rows it deleted. */
  async sweep(batch = BATCH, stopping?: AbortSignal): Promise<number> {
    let deleted = 0;
    while (stopping?.aborted !== true) {
      const count = await deleteExpired(this.database, batch);
      deleted += count;
      if (count < batch) break;
    }
    return deleted;
  }
}

/** The other files of this folder are functions that run in the caller's transaction. */
@Module({ providers: [IdempotencySweep] })
export class IdempotencyModule {}
