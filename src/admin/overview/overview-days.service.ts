import { LRUCache } from 'lru-cache';
import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { ENV, type Env } from '../../core/config/env.js';
import type { OverviewDay, OverviewDays, OverviewDaysQuery } from '../../contracts/admin/overview.dto.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { readTimeZone, type TimeZone, timeZoneViolation } from '../../contracts/common/time-zone.js';
import { Database } from '../../core/database/database.js';
import { listedHaulers, withoutLimit } from '../../core/database/hauler-limit.js';
import { minUuidv7Of } from '../../core/database/uuid.js';
import { invalid } from '../../core/errors/app-error.js';
import { ExchangeReasonCounts } from '../../exchanges/exchange-reasons.service.js';
import { TonnageReport } from '../../scale/tonnage.service.js';
import { FootageSums } from '../../vision/coverage/coverage-sums.service.js';
import { type LocalDay, localDays } from '../../vision/coverage/coverage.rules.js';
import { type Haulers, receivedBetween, type ReceivedRow } from './overview.repository.js';
import { QuietSources } from './quiet.service.js';

/** Reading takes at most this part of the time of one connection. */
const MIN_TIMES = 20;

/** Keeps what was read for some time: at least twenty times as long as it took to read. Callers at the same time share one reading. */
class Kept {
  private readonly values = new LRUCache<string, Promise<unknown>>({ max: 5_000 });

  has(key: string): boolean {
    return this.values.has(key);
  }

  get<T>(key: string, keepMs: number, read: () => Promise<T>): Promise<T> {
    const kept = this.values.get(key) as Promise<T> | undefined;
    if (kept !== undefined) return kept;
    const begin = Date.now();
    const value = read();
    this.values.set(key, value);
    value.then(
      () => this.values.set(key, value, { ttl: Math.max(keepMs, MIN_TIMES * (Date.now() - begin)) }),
      () => this.values.delete(key),
    );
    return value;
  }
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAYS = 14;
/** Tickets of past days are still corrected, and footage is still stored. */
const PAST_KEPT_MS = 60_000;
const TODAY_KEPT_MS = 5_000;
const QUIET_KEPT_MS = 60_000;
/** What takes longer than this in all is in a later answer. */
const SUM_MS = 2_000;

type Sums = Pick<OverviewDay, 'tons' | 'storedSeconds' | 'recordedSeconds'>;

interface Known {
  readonly scope: string;
  readonly received: ReadonlyMap<number, ReceivedRow>;
  readonly deadline: number;
}

/** What came in on each of the last days, and who is quiet. */
@Injectable()
export class OverviewDaysService {
  private readonly kept = new Kept();

  constructor(
    @Inject(ENV) private readonly env: Pick<Env, 'EXCHANGE_RETENTION_DAYS'>,
    private readonly database: Database,
    private readonly exchanges: ExchangeReasonCounts,
    private readonly tonnage: TonnageReport,
    private readonly footage: FootageSums,
    private readonly sources: QuietSources,
  ) {}

  async of({ haulerId, timeZone = 'UTC' }: OverviewDaysQuery): Promise<OverviewDays> {
    const zone = readTimeZone(timeZone);
    if (zone === undefined) throw invalid([timeZoneViolation('timeZone', timeZone)]);
    const haulers = haulerId === undefined ? listedHaulers() : [haulerId];
    return withoutLimit(() => this.read(haulers, zone));
  }

  private async read(haulers: Haulers, zone: TimeZone): Promise<OverviewDays> {
    const now = Date.now();
    const days = lastDays(now, zone);
    const scope = `${haulers?.join() ?? 'all'} ${zone.name} ${zone.offsetMinutes}`;
    const [received, refused] = await Promise.all([this.received(haulers, days), this.refused(haulers, days, now)]);
    const deadline = now + SUM_MS;
    const quiet = await before(
      deadline,
      this.kept.get(`quiet ${scope}`, QUIET_KEPT_MS, () => this.sources.of(haulers, zone, now)),
    );
    const sums = await this.sums(haulers, days, { scope, received, deadline });
    return {
      days: days.map(({ day, start, end }, i) => ({
        day,
        startTime: formatInstant(new Date(start)),
        endTime: formatInstant(new Date(end)),
        tickets: received.get(i)?.tickets ?? 0,
        accounts: received.get(i)?.accounts ?? 0,
        ...(refused?.[i] === undefined ? {} : { refusedCalls: refused[i] }),
        ...sums[i],
      })),
      ...(quiet === undefined ? {} : { quiet }),
    };
  }

  private async received(haulers: Haulers, days: readonly LocalDay[]) {
    const edges = [...days.map(({ start }) => start), days.at(-1)?.end ?? 0].map(minUuidv7Of);
    const rows = await receivedBetween(this.database, haulers, edges);
    return new Map(rows.map((row) => [row.place, row]));
  }

  /** Hours are counted whole. Undefined for a day whose first exchanges are no longer kept. */
  private async refused(haulers: Haulers, days: readonly LocalDay[], now: number) {
    const found = await this.exchanges.refusedCalls(new Date(days[0]?.start ?? now), haulers);
    const hours = [...(found ?? [])];
    const kept = (Math.floor(now / DAY_MS) - this.env.EXCHANGE_RETENTION_DAYS) * DAY_MS;
    return (
      found &&
      days.map(({ start, end }) => {
        if (start < kept) return undefined;
        const own = hours.filter(([hour]) => hour >= start && hour < end);
        return own.reduce((sum, [, count]) => sum + count, 0);
      })
    );
  }

  /** The latest day first, until the deadline. What was begun goes on, for the next answer. */
  private async sums(
    haulers: Haulers,
    days: readonly LocalDay[],
    { scope, received, deadline }: Known,
  ): Promise<Sums[]> {
    const sums: Sums[] = [];
    for (const [back, { start, end }] of [...days.entries()].reverse()) {
      // Data of the past may still be filled in.
      const key = `${start} ${end} ${scope} ${received.get(back)?.tickets}`;
      const keepMs = back === days.length - 1 ? TODAY_KEPT_MS : PAST_KEPT_MS;
      const isDue = this.kept.has(key) || Date.now() < deadline;
      const read = async (): Promise<Sums> => {
        const tons = await this.tonnage.total(haulers, start, end);
        const { stored, available, lost } = await this.footage.total(haulers, start, end);
        return { tons, storedSeconds: stored, recordedSeconds: stored + available + lost };
      };
      sums[back] = (isDue ? await before(deadline, this.kept.get(key, keepMs, read)) : undefined) ?? {};
    }
    return sums;
  }
}

/** Today is the last one, and ends with its midnight. */
function lastDays(now: number, zone: TimeZone): LocalDay[] {
  const end = localDays(now, now + 2 * DAY_MS, zone)[0]?.end ?? now;
  return localDays(end - (DAYS + 1) * DAY_MS, end, zone).slice(-DAYS);
}

/** Undefined where the deadline comes first. What is known already is never late. */
const before = <T>(deadline: number, value: Promise<T>): Promise<T | undefined> =>
  Promise.race([value, delay(Math.max(0, deadline - Date.now()), undefined, { ref: false })]);
