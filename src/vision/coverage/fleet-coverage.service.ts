import { Injectable } from '@nestjs/common';
import type { List } from '../../contracts/admin/list.dto.js';
import type { AbsentCamera, FleetCoverageQuery, TruckCoverage } from '../../contracts/admin/coverage.dto.js';
import { epochMillis, formatInstant } from '../../contracts/common/instant.js';
import { readTimeZone, timeZoneViolation } from '../../contracts/common/time-zone.js';
import { positionedPage } from '../../database/list-page.js';
import { filteredHauler } from '../../database/hauler-limit.js';
import { invalid } from '../../errors/app-error.js';
import { CoverageBuckets } from './coverage-sums.repository.js';
import { FleetSums } from './fleet-sums.repository.js';
import { type CoveredCamera, CoverageRepository, type FleetTruck, type TruckCamera } from './coverage.repository.js';
import { type BucketGrid, rangeViolations, type StateSeconds, sumOf } from './coverage.rules.js';
import { type LocalDay, localDays } from './local-days.rules.js';

const DAY_MS = 86_400_000;

interface Covered {
  readonly truck: FleetTruck;
  readonly cameras: readonly CoveredCamera[];
}

/** The coverage of all trucks, by local day. */
@Injectable()
export class FleetCoverage {
  constructor(
    private readonly coverage: CoverageRepository,
    private readonly buckets: CoverageBuckets,
    private readonly sums: FleetSums,
  ) {}

  /** The worst truck first. Reads the recordings of the page's trucks only. */
  async list(query: FleetCoverageQuery): Promise<List<TruckCoverage>> {
    const zone = readTimeZone(query.zone ?? 'UTC');
    const violations = rangeViolations(query);
    if (zone === undefined) violations.push(timeZoneViolation('zone', query.zone ?? ''));
    if (zone === undefined || violations.length > 0) throw invalid(violations);
    const haulerId = filteredHauler(query.haulerId);
    const trucks = await this.coverage.trucks({
      ...query,
      ...(haulerId === undefined ? {} : { haulerId }),
    });
    const cameras = await this.coverage.cameras(trucks, query);
    const ranked = trucks.map((truck, i): Covered => ({ truck, cameras: cameras[i] ?? [] })).sort(byLoss);
    const { first, end, pagination } = positionedPage('coverage/fleet', query, ranked.length);
    const days = localDays(epochMillis(query.from), epochMillis(query.to), zone);
    return {
      data: await this.rows(ranked.slice(first, end), query, days),
      pagination,
    };
  }

  private async rows(
    shown: readonly Covered[],
    { to }: FleetCoverageQuery,
    days: readonly LocalDay[],
  ): Promise<TruckCoverage[]> {
    const ofTrucks = (isShown: (camera: CoveredCamera) => boolean) =>
      shown.flatMap(({ truck: { connectionId, truckId }, cameras }) =>
        cameras.filter(isShown).map(({ names }) => ({ connectionId, truckId, names: [...names] })),
      );
    const [fromMs = 0, ...ends] = [days[0]?.start ?? 0, ...days.map((day) => day.end)];
    const grid = {
      originMs: fromMs,
      stepMs: DAY_MS,
      fromMs,
      toMs: ends.at(-1) ?? 0,
      edges: [fromMs, ...ends],
    };
    const seconds = (
      await this.seconds(
        ofTrucks(() => true),
        grid,
      )
    ).values();
    const lastTimes = (
      await this.coverage.lastRecorded(
        ofTrucks(({ isAbsent }) => isAbsent),
        to,
      )
    ).values();
    return shown.map(({ truck: { haulerId, haulerName, connectionId, truckId }, cameras }) => {
      const own = cameras.map(() => seconds.next().value ?? []);
      return {
        ...{
          haulerId,
          haulerName,
          connectionId,
          truckId,
          cameras: cameras.length,
        },
        absent: cameras.filter(({ isAbsent }) => isAbsent).map(({ name }) => absentOf(name, lastTimes.next().value)),
        days: days.map(({ day, start, end }, i) => ({
          day,
          startTime: formatInstant(new Date(start)),
          endTime: formatInstant(new Date(end)),
          ...sumOf(own.flatMap((buckets) => buckets[i] ?? [])),
        })),
      };
    });
  }

  /** From the sums, and from the recordings of those cameras that the sums do not have exactly. */
  private async seconds(cameras: readonly TruckCamera[], grid: BucketGrid): Promise<StateSeconds[][]> {
    const summed = await this.sums.of(cameras, grid);
    const others = cameras.filter((_, i) => summed[i] === undefined);
    const read = (others.length === 0 ? [] : await this.buckets.of(others, grid)).values();
    return summed.map((sums) => sums ?? read.next().value ?? []);
  }
}

const absentOf = (name: string | undefined, at: Date | undefined): AbsentCamera => ({
  ...(name === undefined ? {} : { cameraId: name }),
  ...(at === undefined ? {} : { lastRecordedAt: formatInstant(at) }),
});

/** Lost footage, then absent cameras; the others by name. */
function byLoss(one: Covered, other: Covered): number {
  const absent = ({ cameras }: Covered) => cameras.filter(({ isAbsent }) => isAbsent).length;
  return other.truck.lostSeconds - one.truck.lostSeconds || absent(other) - absent(one);
}
