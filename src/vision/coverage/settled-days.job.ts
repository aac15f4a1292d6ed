import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Database } from '../../core/database/database.js';
import { Sweep } from '../../core/database/sweep.js';
import { type DayKey, settleDay, unsettledDays } from './settled-days.repository.js';

const INTERVAL_MS = 600_000;

/** Cameras in one transaction. Who lists or deletes recordings of their day waits for its end. */
const BATCH = 200;

/** Sums the past days (UTC) whose recordings are all stored or lost. */
@Injectable()
export class SettledDays implements BeforeApplicationShutdown {
  private readonly settling = new Sweep((stopping) => this.settleAll(stopping));

  constructor(private readonly database: Database) {}

  @Interval('settled days', INTERVAL_MS)
  settle(): Promise<void> {
    return this.settling.run();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.settling.stop();
  }

  private async settleAll(stopping: AbortSignal): Promise<void> {
    const today = new Date().toISOString().slice(0, 10);
    for (const day of await unsettledDays(this.database, today)) {
      let last: DayKey | undefined;
      do {
        if (stopping.aborted) return;
        last = await this.database.transaction((transaction) => settleDay(transaction, day, last, BATCH), {
          pool: 'bulk',
        });
      } while (last !== undefined);
    }
  }
}
