import { Injectable } from '@nestjs/common';
import type { List } from '../../contracts/admin/list.dto.js';
import type { AbsentCamera, FleetCoverageQuery, TruckCoverage } from '../../contracts/admin/coverage.dto.js';
import { epochMillis, formatInstant } from '../../contracts/common/instant.js';
import { readTimeZone, timeZoneViolation } from '../../contracts/common/time-zone.js';
import { positionedPage } from '../../core/database/list-page.js';
import { filteredHauler } from '../../core/database/hauler-limit.js';
import { invalid } from '../../core/errors/app-error.js';
import { CoverageSums } from './coverage-sums.service.js';
import { type CoveredCamera, CoverageRepository, type FleetTruck } from './coverage.repository.js';
import { rangeViolations, type StateSeconds, sumOf } from './coverage.rules.js';
import { type LocalDay, localDays } from './local-days.rules.js';

interface Covered {
  readonly truck: FleetTruck;
  readonly cameras: readonly CoveredCamera[];
}

/** Of each day, the seconds of all cameras of a truck. */
type Days = readonly StateSeconds[];

/** The coverage of all trucks, by local day. */
@Injectable()
export class FleetCoverage {
  constructor(
    private readonly coverage: CoverageRepository,
    private readonly sums: CoverageSums,
  ) {}

  /** The worst truck first. Reads the sums of the trucks that lost something and of those of the page. */
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
    const covered = trucks.map((truck, i): Covered => ({ truck, cameras: cameras[i] ?? [] }));
    const days = localDays(epochMillis(query.from), epochMillis(query.to), zone);
    const seconds = new Map<Covered, Days>();
    const read = async (wanted: readonly Covered[]) => {
      const found = await this.daysOf(wanted, days);
      wanted.forEach((each, i) => seconds.set(each, found[i] ?? []));
    };
    await read(covered.filter(({ truck }) => truck.hasLost));
    const ranked = rankedByLoss(covered, (each) => sumOf(seconds.get(each) ?? []));
    const { first, end, pagination } = positionedPage('coverage/fleet', query, ranked.length);
    const shown = ranked.slice(first, end);
    await read(shown.filter((each) => !seconds.has(each)));
    const absent = shown.flatMap((each) => each.cameras.filter(isAbsentCamera));
    const lastTimes = (await this.coverage.lastRecorded(absent, query.to)).values();
    return {
      data: shown.map(({ truck: { haulerId: owner, haulerName, connectionId, truckId, atRisk }, cameras: own }, i) => ({
        haulerId: owner,
        haulerName,
        connectionId,
        truckId,
        cameras: own.length,
        absent: own.filter(isAbsentCamera).map(({ name }) => absentOf(name, lastTimes.next().value)),
        atRisk,
        days: days.map(({ day, start, end: dayEnd }, n) => ({
          day,
          startTime: formatInstant(new Date(start)),
          endTime: formatInstant(new Date(dayEnd)),
          ...(seconds.get(shown[i] as Covered)?.[n] ?? sumOf([])),
        })),
      })),
      pagination,
    };
  }

  /** Of each truck. */
  private async daysOf(covered: readonly Covered[], days: readonly LocalDay[]): Promise<Days[]> {
    const edges = [...days.map(({ start }) => start), ...days.slice(-1).map(({ end }) => end)];
    const all = covered.flatMap(({ cameras }) => cameras);
    const seconds = (await this.sums.of(all, edges)).values();
    return covered.map(({ cameras }) => {
      const own = cameras.map(() => seconds.next().value ?? []);
      return days.map((_, day) => sumOf(own.flatMap((buckets) => buckets[day] ?? [])));
    });
  }
}

const isAbsentCamera = ({ isAbsent }: CoveredCamera): boolean => isAbsent;

const absentOf = (name: string | undefined, at: Date | undefined): AbsentCamera => ({
  ...(name === undefined ? {} : { cameraId: name }),
  ...(at === undefined ? {} : { lastRecordedAt: formatInstant(at) }),
});

/** By the share of the footage that is lost, then by the downloads that may be lost, then absent cameras; the others by name. */
function rankedByLoss(covered: readonly Covered[], secondsOf: (truck: Covered) => StateSeconds): Covered[] {
  const ranks = new Map(
    covered.map((each) => {
      const { stored, available, lost } = secondsOf(each);
      const share = lost === 0 ? 0 : lost / (stored + available + lost);
      return [each, [share, each.truck.atRisk, each.cameras.filter(isAbsentCamera).length]];
    }),
  );
  const rank = (each: Covered, i: number) => ranks.get(each)?.[i] ?? 0;
  return covered.toSorted(
    (one, other) => rank(other, 0) - rank(one, 0) || rank(other, 1) - rank(one, 1) || rank(other, 2) - rank(one, 2),
  );
}
