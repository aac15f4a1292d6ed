import { Injectable } from '@nestjs/common';
import type { QuietSource } from '../../contracts/admin/overview.dto.js';
import { formatInstant } from '../../contracts/common/instant.js';
import type { TimeZone } from '../../contracts/common/time-zone.js';
import { Database } from '../../core/database/database.js';
import { minUuidv7Of, timeOfUuidv7 } from '../../core/database/uuid.js';
import { type FollowedCamera, FootageSums } from '../../vision/coverage/coverage-sums.service.js';
import { localDays } from '../../vision/coverage/coverage.rules.js';
import { activeSites, type Haulers, type IdRange, ticketsOfSites } from './overview.repository.js';
import {
  footageChance,
  MAX_QUIET,
  type Quiet,
  quietOf,
  type Sent,
  type Span,
  ticketChance,
  type TwoDays,
  WEEKS,
  weeksOf,
} from './quiet.rules.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** As many days as are compared; the longest has 25 hours. */
const RANGE_MS = (WEEKS * 7 + 3) * DAY_MS;
/** Ranges of one week. */
const RANGES = ['yesterday', 'today'] as const;

/** The scale houses and cameras that send less than on their usual day. */
@Injectable()
export class QuietSources {
  constructor(
    private readonly database: Database,
    private readonly footage: FootageSums,
  ) {}

  async of(haulers: Haulers, zone: TimeZone, now: number): Promise<QuietSource[]> {
    const days = localDays(now - RANGE_MS, now + 1, zone);
    // Settled days are known by the hour.
    const hour = Math.max(days.at(-1)?.start ?? 0, Math.floor(now / HOUR_MS) * HOUR_MS);
    const found = [
      ...(await this.sites(haulers, weeksOf(days, now))),
      ...(await this.cameras(haulers, weeksOf(days, hour))),
    ];
    return found.sort((one, other) => ((one.lastAt ?? '') < (other.lastAt ?? '') ? -1 : 1)).slice(0, MAX_QUIET);
  }

  private async sites(haulers: Haulers, weeks: readonly TwoDays[]): Promise<QuietSource[]> {
    const ranges = weeks.flatMap((week) => RANGES.map((day) => idsOf(week[day])));
    const rows = await ticketsOfSites(this.database, haulers, ranges);
    const quiet = [...Map.groupBy(rows, (row) => `${row.hauler_id} ${row.site_id}`).values()].flatMap((own) => {
      const sentIn = (place: number) => own.find((row) => row.place === place)?.count ?? 0;
      const sent = weeks.map((_, week): Sent => ({ yesterday: sentIn(2 * week + 1), today: sentIn(2 * week + 2) }));
      const [found, site] = [quietOf(sent, ticketChance), own[0]];
      return found === undefined || site === undefined ? [] : [{ site, found }];
    });
    const sites = await activeSites(
      this.database,
      quiet.map(({ site }) => site),
    );
    return quiet.flatMap(({ site, found }) => {
      const active = sites.find((each) => each.hauler_id === site.hauler_id && each.site_id === site.site_id);
      if (active === undefined) return [];
      const { hauler_id: haulerId, site_id: siteId, name, last_id: last } = active;
      const lastAt = last === null ? undefined : new Date(timeOfUuidv7(last));
      return [{ kind: 'site' as const, haulerId, siteId, name, ...factsOf(found, weeks, lastAt) }];
    });
  }

  private async cameras(haulers: Haulers, weeks: readonly TwoDays[]): Promise<QuietSource[]> {
    const [first, last] = [weeks.at(-1)?.yesterday.from ?? 0, weeks[0]?.today.to ?? 0];
    const cameras = await this.footage.followed(haulers, first, last);
    if (cameras.length === 0) return [];
    const sent: Sent[][] = cameras.map(() => []);
    for (const { yesterday, today } of weeks) {
      const edges = [yesterday.from, today.from, ...(today.to > today.from ? [today.to] : [])];
      const recorded = await this.footage.recorded(cameras, edges);
      recorded.forEach(([before = 0, now = 0], i) => sent[i]?.push({ yesterday: before, today: now }));
    }
    const truckOf = ({ connectionId, truckId }: FollowedCamera) => `${connectionId} ${truckId}`;
    // A truck of which nothing came today may be parked, or sends in the evening.
    const live = new Set(cameras.filter((_, i) => (sent[i]?.[0]?.today ?? 0) > 0).map(truckOf));
    const quiet = cameras.flatMap((camera, i) => {
      const found = quietOf(sent[i] ?? [], footageChance, live.has(truckOf(camera)));
      return found === undefined ? [] : [{ camera, found }];
    });
    const times = await this.footage.lastRecorded(
      quiet.map(({ camera }) => camera),
      last,
    );
    return quiet.map(({ camera: { haulerId, connectionId, truckId, name }, found }, i) => ({
      kind: 'camera',
      haulerId,
      connectionId,
      truckId,
      name,
      ...factsOf(found, weeks, times[i]),
    }));
  }
}

const idsOf = ({ from, to }: Span): IdRange => [minUuidv7Of(from), minUuidv7Of(to)];

function factsOf({ day, sent, usual }: Quiet, [last]: readonly TwoDays[], lastAt: Date | undefined) {
  const { from, to } = last?.[day] ?? { from: 0, to: 0 };
  return {
    from: formatInstant(new Date(from)),
    to: formatInstant(new Date(to)),
    sent,
    usual,
    ...(lastAt === undefined ? {} : { lastAt: formatInstant(lastAt) }),
  };
}
