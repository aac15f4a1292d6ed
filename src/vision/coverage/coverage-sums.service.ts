import { Injectable } from '@nestjs/common';
import { instantOf } from '../../contracts/common/instant.js';
import { Database } from '../../core/database/database.js';
import { CoveragePieces } from './coverage-pieces.service.js';
import { CoverageRepository, type FleetTruck, type TruckCamera } from './coverage.repository.js';
import {
  footageState,
  type FootageState,
  NO_FOOTAGE,
  type Piece,
  type StateSeconds,
  stateSeconds,
  sumOf,
} from './coverage.rules.js';
import { type CameraTime, footageSeconds, type OtherTime } from './footage-seconds.repository.js';
import { settledDays } from './settled-days.repository.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Days of cameras that one statement reads. Of two cameras with a chunk each ten seconds, a month takes it a second. */
const BATCH_DAYS = 62;

/** What the recordings of cameras add up to. */
@Injectable()
export class CoverageSums {
  constructor(
    private readonly database: Database,
    private readonly pieces: CoveragePieces,
  ) {}

  /**
   * The seconds of each state by camera and bucket: from the sums of settled days, and from the recordings of all other time. So are days
   * of which more than recordings is known, and all days if a bucket begins at a part of an hour. `edges`: the borders of the buckets in
   * milliseconds since the epoch.
   */
  async of(cameras: readonly TruckCamera[], edges: readonly number[]): Promise<StateSeconds[][]> {
    const [from = 0, to = 0] = [edges[0], edges.at(-1)];
    const range = { from: instantOf(new Date(from)), to: instantOf(new Date(to)) };
    const others = (await this.pieces.withoutRecordings(cameras, range)).map(({ pieces }, place) =>
      pieces.flatMap(toOtherTime(place)),
    );
    const sums = cameras.map(() => edges.slice(1).map((): Record<FootageState, number> => ({ ...NO_FOOTAGE })));
    const add = (place: number, bucket: number, state: FootageState, seconds: number): void => {
      const own = sums[place]?.[bucket];
      if (own !== undefined) own[state] += seconds;
    };
    const known = cameras.map(() => new Set<number>());
    const isWhole = edges.every((edge) => edge % HOUR_MS === 0);
    for (const { place, day, bucket, ...of } of isWhole ? await settledDays(this.database, cameras, edges) : []) {
      if (others[place]?.some((other) => other.from < day + DAY_MS && other.to > day)) continue;
      known[place]?.add(day);
      for (const state of ['stored', 'expired', 'failed'] as const) add(place, bucket, state, of[state] / 1000);
    }
    const open = cameras.map((camera, place) => openTimes({ ...camera, place, from, to }, known[place]));
    for (const batch of batchesOf(open)) {
      const places = new Set(batch.map(({ place }) => place));
      const ofBatch = [...places].flatMap((place) => others[place] ?? []);
      const rows = await footageSeconds(this.database, batch, ofBatch, edges);
      for (const { place, bucket, state, seconds } of rows) add(place, bucket, state, seconds);
    }
    return sums.map((own) => own.map((of, i) => stateSeconds(((edges[i + 1] ?? 0) - (edges[i] ?? 0)) / 1000, of)));
  }
}

const toOtherTime =
  (place: number) =>
  (piece: Piece): OtherTime[] => {
    const state = footageState(piece);
    return state === undefined ? [] : [{ place, state, from: piece.start, to: piece.end }];
  };

/** The parts of a time that are not within these days. */
function openTimes(time: CameraTime, days: ReadonlySet<number> = new Set()): CameraTime[] {
  const open: CameraTime[] = [];
  let { from } = time;
  for (let day = Math.floor(from / DAY_MS) * DAY_MS; day < time.to; day += DAY_MS) {
    if (!days.has(day)) continue;
    if (day > from) open.push({ ...time, from, to: day });
    from = day + DAY_MS;
  }
  return from < time.to ? [...open, { ...time, from }] : open;
}

/** The times of one camera stay together. */
function batchesOf(cameras: readonly (readonly CameraTime[])[]): CameraTime[][] {
  const batches: CameraTime[][] = [];
  let days = BATCH_DAYS;
  for (const times of cameras.filter(({ length }) => length > 0)) {
    const own = times.reduce((sum, { from, to }) => sum + (to - from) / DAY_MS, 0);
    if (days + own > BATCH_DAYS) [days] = [0, batches.push([])];
    days += own;
    batches.at(-1)?.push(...times);
  }
  return batches;
}

/** A camera that a subscription reads. */
export interface FollowedCamera extends TruckCamera {
  readonly haulerId: string;
  readonly name: string;
}

/** The footage of many trucks together, as the fleet has it for each. */
@Injectable()
export class FootageSums {
  constructor(
    private readonly coverage: CoverageRepository,
    private readonly sums: CoverageSums,
  ) {}

  /** Of all cameras of these haulers, or of all. Times are milliseconds since the epoch. */
  async total(haulers: readonly string[] | undefined, from: number, to: number): Promise<StateSeconds> {
    const { cameras } = await this.trucksOf(haulers, from, to);
    return sumOf((await this.sums.of(cameras.flat(), [from, to])).flat());
  }

  /** The cameras that subscriptions read now, and that recorded in this time. */
  async followed(haulers: readonly string[] | undefined, from: number, to: number): Promise<FollowedCamera[]> {
    const { trucks, cameras } = await this.trucksOf(haulers, from, to);
    const range = { from: instantOf(new Date(from)), to: instantOf(new Date(to)) };
    const subscriptions = (await this.coverage.subscriptions(trucks, range)).filter(({ is_ended }) => !is_ended);
    return trucks.flatMap(({ haulerId, connectionId, truckId }, i) => {
      const own = subscriptions.filter((each) => each.connection_id === connectionId && each.truck_id === truckId);
      const isRead = ({ names }: TruckCamera) => own.some(({ camera_id: id }) => id === null || names.includes(id));
      return (cameras[i] ?? []).flatMap((camera) => {
        const { name } = camera;
        return name !== undefined && isRead(camera) ? [{ ...camera, haulerId, name }] : [];
      });
    });
  }

  /** Seconds that were recorded between each two edges, whether they are stored yet or lost. */
  async recorded(cameras: readonly TruckCamera[], edges: readonly number[]): Promise<number[][]> {
    return (await this.sums.of(cameras, edges)).map((own) =>
      own.map(({ stored, available, lost }) => stored + available + lost),
    );
  }

  lastRecorded(cameras: readonly TruckCamera[], to: number): Promise<(Date | undefined)[]> {
    return this.coverage.lastRecorded(cameras, instantOf(new Date(to)));
  }

  private async trucksOf(haulers: readonly string[] | undefined, from: number, to: number) {
    const range = { from: instantOf(new Date(from)), to: instantOf(new Date(to)) };
    const trucks: FleetTruck[] = [];
    for (const haulerId of haulers ?? [undefined]) {
      trucks.push(...(await this.coverage.trucks({ ...range, ...(haulerId === undefined ? {} : { haulerId }) })));
    }
    return { trucks, cameras: await this.coverage.cameras(trucks, range) };
  }
}
