import { type BeforeApplicationShutdown, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Database } from '../../database/database.js';
import { type DayKey, settleDay, unsettledDays } from './settled-days.repository.js';

const INTERVAL_MS = 600_000;

/** Cameras in one transaction. Who lists or deletes recordings of their day waits for its end. */
const BATCH = 200;

/** Sums the past days (UTC) whose recordings are all stored or lost. */
@Injectable()
export class SettledDays implements OnModuleDestroy, BeforeApplicationShutdown {
  private isStopping = false;
  private running: Promise<void> | undefined;

  constructor(private readonly database: Database) {}

  @Interval('settled days', INTERVAL_MS)
  async settle(): Promise<void> {
    this.running ??= this.settleAll().finally(() => (this.running = undefined));
    await this.running;
  }

  onModuleDestroy(): void {
    this.isStopping = true;
  }

  /** The connections are closed after this. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.running?.catch(() => undefined);
  }

  private async settleAll(): Promise<void> {
    const today = new Date().toISOString().slice(0, 10);
    for (const day of await unsettledDays(this.database, today)) {
      let last: DayKey | undefined;
      do {
        if (this.isStopping) return;
        last = await this.database.transaction((transaction) => settleDay(transaction, day, last, BATCH), {
          pool: 'bulk',
        });
      } while (last !== undefined);
    }
  }
}
