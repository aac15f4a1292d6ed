import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { DataSource } from 'typeorm';
import { correctDay } from './coverage-days-check.repository.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Of the day (UTC). */
const AT_HOUR = 3;

/** Each night it computes the sums of the last two days again: an older version that runs beside this one does not write them. */
@Injectable()
export class CoverageDaysCheck implements OnModuleDestroy {
  private isStopping = false;

  constructor(private readonly dataSource: DataSource) {}

  onModuleDestroy(): void {
    this.isStopping = true;
  }

  @Interval('coverage days', HOUR_MS)
  async hourly(): Promise<void> {
    if (new Date().getUTCHours() === AT_HOUR) await this.run();
  }

  /** Returns how many sums were wrong. */
  async run(now: number = Date.now()): Promise<number> {
    let corrected = 0;
    for (const time of [now - DAY_MS, now]) {
      if (!this.isStopping) corrected += await correctDay(this.dataSource, new Date(time).toISOString().slice(0, 10));
    }
    return corrected;
  }
}
