import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type {
  AbsentCamera,
  CameraCoverage,
  CoverageCause,
  CoverageSummary,
  CoverageSummaryQuery,
  FleetCoverageQuery,
  TruckCoverage,
} from '../../contracts/admin/coverage.routes.js';
import { epochMillis, formatInstant, instantOf } from '../../contracts/common/instant.js';
import { invalid } from '../../core/errors/app-error.js';
import { unknownConnection, VisionConnections } from '../client/vision-connections.repository.js';
import { CoveragePieces } from './coverage-pieces.service.js';
import { CoverageRepository, type CoveredCamera, type FleetTruck } from './coverage.repository.js';
import {
  isLost,
  isUnread,
  type LocalDay,
  localDays,
  mapSeconds,
  type Piece,
  rangeViolations,
  SIDES,
  type StateSeconds,
  sumOf,
} from './coverage.rules.js';
import type { List } from '../../contracts/admin/list.dto.js';
import { readTimeZone, timeZoneViolation } from '../../contracts/common/time-zone.js';
import { positionedPage } from '../../core/database/list-page.js';
import { filteredHauler } from '../../core/database/hauler-limit.js';
import { CoverageSums } from './coverage-sums.service.js';

/** Read at once: of a truck with many recordings, a month has more than memory should hold. */
const SLICE_MS = 86_400_000;

/** Milliseconds of each state, and of each cause; a failed or unread one is also missing. */
interface Sums {
  readonly states: Record<keyof StateSeconds, number>;
  readonly causes: Map<CoverageCause, number>;
}

/** Why footage of a truck is missing, by camera: what its intervals add up to. */
@Injectable()
export class CoverageSummaries {
  constructor(
    private readonly pieces: CoveragePieces,
    private readonly coverage: CoverageRepository,
    private readonly connections: VisionConnections,
  ) {}

  /** 400 with every violation. */
  async of(query: CoverageSummaryQuery): Promise<CoverageSummary> {
    const violations = rangeViolations(query);
    if (!(await this.connections.exists(query.connectionId))) violations.push(unknownConnection());
    if (violations.length > 0) throw invalid(violations);
    const cameras = await this.pieces.cameras(query);
    const sums = await this.sums(query, cameras);
    const times = await this.coverage.lastRecorded(cameras, query.to);
    const data = cameras.map((camera, i) => toDto(camera, sums[i] ?? noSums(), times[i]));
    return { data: data.sort((one, other) => other.lost - one.lost) };
  }

  private async sums(query: CoverageSummaryQuery, cameras: readonly CoveredCamera[]): Promise<Sums[]> {
    const sums = cameras.map(noSums);
    const [from, to] = [epochMillis(query.from), epochMillis(query.to)];
    for (let start = from; start < to; start += SLICE_MS) {
      const slice = {
        ...query,
        from: instantOf(new Date(start)),
        to: instantOf(new Date(Math.min(start + SLICE_MS, to))),
      };
      for (const [i, piecesOf] of (await this.pieces.of(slice, cameras)).entries()) {
        for (const piece of piecesOf().pieces) add(sums[i] ?? noSums(), piece);
        await yieldToEventLoop();
      }
    }
    return sums;
  }
}

const noSums = (): Sums => ({
  states: { stored: 0, available: 0, expired: 0, missing: 0, failed: 0, lost: 0, unread: 0, future: 0 },
  causes: new Map(),
});

function add({ states, causes }: Sums, piece: Piece): void {
  const { start, end, state, cause } = piece;
  const shown: (keyof StateSeconds | false)[] = [
    cause === 'future' ? cause : state,
    isLost(piece) && 'lost',
    isLost(piece) && state === 'missing' && 'failed',
    isUnread(piece) && 'unread',
  ];
  for (const each of shown) if (each !== false) states[each] += end - start;
  if (cause !== undefined) causes.set(cause, (causes.get(cause) ?? 0) + end - start);
}

function toDto({ name, names }: CoveredCamera, { states, causes }: Sums, at: Date | undefined): CameraCoverage {
  return {
    ...(name === undefined ? {} : { cameraId: name }),
    names: [...names].sort(),
    ...(at === undefined ? {} : { lastRecordedAt: formatInstant(at) }),
    ...mapSeconds(states, (milliseconds) => milliseconds / 1000),
    causes: [...causes]
      .map(([cause, milliseconds]) => ({ cause, side: SIDES[cause], seconds: milliseconds / 1000 }))
      .sort((one, other) => other.seconds - one.seconds),
  };
}

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
