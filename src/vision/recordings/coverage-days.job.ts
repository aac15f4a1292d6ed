import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { DataSource } from 'typeorm';
import { sharedDays } from './coverage-days-check.repository.js';
import { CoverageDays } from './coverage-days.service.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Of the day (UTC). */
const AT_HOUR = 3;

/** The longest range of the view of the fleet. */
const SHARED_DAYS = 31;

/**
 * Each night it computes the sums of the last two days again: an older version that runs beside this one does not write them. And those of
 * a month on which recordings share time: they may not do so any more, and then the view does not have to read them.
 */
@Injectable()
export class CoverageDaysCheck implements OnModuleDestroy {
  private isStopping = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly days: CoverageDays,
  ) {}

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
    const shared = await sharedDays(this.dataSource, dayOf(now - SHARED_DAYS * DAY_MS));
    for (const day of new Set([dayOf(now - DAY_MS), dayOf(now), ...shared])) {
      if (!this.isStopping) corrected += await this.days.correct(day);
    }
    return corrected;
  }
}

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
