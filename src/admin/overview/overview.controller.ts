import { Controller, Inject, Query } from '@nestjs/common';
import { Route } from '../../auth/route.js';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import { OverviewDaysQuery } from '../../contracts/admin/overview.dto.js';
import { ENV, type Env } from '../../core/config/env.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { ExchangeHours } from '../../exchanges/exchange-hours.repository.js';
import { StoredHours } from '../../vision/recordings/recordings.service.js';
import { OverviewDaysService } from './overview-days.service.js';

const HOUR_MS = 3_600_000;
const HOURS = 24;

const NONE = {
  tickets: { created: 0, updated: 0, unchanged: 0, stale: 0, refused: 0 },
  exchanges: { succeeded: 0, refused: 0, failed: 0, unanswered: 0 },
};

/** The last day in numbers; loaded with the platform side. */
@Controller()
export class OverviewController {
  constructor(
    @Inject(ENV) private readonly env: Pick<Env, 'EXCHANGE_LOG'>,
    private readonly exchanges: ExchangeHours,
    private readonly stored: StoredHours,
    private readonly days: OverviewDaysService,
  ) {}

  @Route(ADMIN_API, 'getOverviewDays')
  getDays(@Query() query: OverviewDaysQuery) {
    return this.days.of(query);
  }

  @Route(ADMIN_API, 'getOverview')
  async get() {
    const end = (Math.floor(Date.now() / HOUR_MS) + 1) * HOUR_MS;
    const start = end - HOURS * HOUR_MS;
    const from = new Date(start);
    const [exchanges, stored, refusedPushes] = await Promise.all([
      this.exchanges.counts(from),
      this.stored.counts(from),
      this.exchanges.refusedPushes(from),
    ]);
    const hours = Array.from({ length: HOURS }, (_, index) => {
      const hour = start + index * HOUR_MS;
      return {
        startTime: formatInstant(new Date(hour)),
        recordingsStored: stored.get(hour) ?? 0,
        ...(exchanges.get(hour) ?? NONE),
      };
    });
    const to = formatInstant(new Date(end));
    return { from: formatInstant(from), to, exchangeLog: this.env.EXCHANGE_LOG, hours, refusedPushes };
  }
}
