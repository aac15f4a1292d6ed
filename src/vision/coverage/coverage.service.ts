import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { List } from '../../contracts/admin/list.dto.js';
import { FILE_REMOVED } from '../../contracts/admin/recording.dto.js';
import {
  type Coverage,
  type CoverageBucket,
  type CoverageCause,
  type CoverageInterval,
  type CoverageQuery,
  type FleetCoverageQuery,
  type TruckDayCoverage,
} from '../../contracts/admin/coverage.dto.js';
import { epochMillis, formatInstant } from '../../contracts/common/instant.js';
import type { Violation } from '../../contracts/common/violation.js';
import { positionedPage } from '../../database/list-page.js';
import { invalid } from '../../errors/app-error.js';
import { unknownConnection, VisionConnections } from '../client/vision-connections.repository.js';
import { namePairsOf } from '../recordings/camera-names.repository.js';
import { type Camera, camerasOf, namesOf } from '../recordings/camera-names.rules.js';
import type { RecordingState } from '../recordings/recording.rules.js';
import { CoverageBuckets } from './coverage-sums.repository.js';
import {
  CoverageRepository,
  type CoverageRecordingRow,
  type CoverageSubscriptionRow,
  UNKNOWN_CAMERA,
} from './coverage.repository.js';
import {
  bucketCount,
  type BucketGrid,
  bucketRange,
  type AskedRange,
  coverageOf,
  type CoverageState,
  lastAskedAt,
  listsNone,
  missingPieces,
  type Piece,
  rangeViolations,
  SIDES,
  type Subscribed,
  sumOf,
} from './coverage.rules.js';

/** A month of chunks of one minute has 44,640. Their intervals take about 50 MiB and hold the event loop for 0.1 s. */
const MAX_RECORDINGS = 50_000;
const MAX_BUCKETS = 50_000;

const DAY_MS = 86_400_000;

const STATES: Readonly<Record<RecordingState, CoverageState>> = {
  stored: 'stored',
  available: 'available',
  expired: 'expired',
  failed: 'missing',
};

/** The coverage of a truck's cameras over time (decision 49). */
@Injectable()
export class CoverageService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly coverage: CoverageRepository,
    private readonly connections: VisionConnections,
    private readonly buckets: CoverageBuckets,
  ) {}

  /** 400 with every violation. */
  async of(query: CoverageQuery): Promise<Coverage> {
    const violations = rangeViolations(query);
    if (!(await this.connections.exists(query.connectionId))) violations.push(unknownConnection());
    if (violations.length > 0) throw invalid(violations);
    return query.resolution === undefined
      ? { data: await this.intervals(query) }
      : { data: await this.aggregated(query, query.resolution) };
  }

  private async aggregated(query: CoverageQuery, resolution: number): Promise<CoverageBucket[]> {
    const { connectionId, truckId, cameraId } = query;
    const [fromMs, toMs] = [epochMillis(query.from), epochMillis(query.to)];
    const grid = { originMs: fromMs, stepMs: resolution * 1000, fromMs, toMs };
    const cameras =
      cameraId === undefined ? await this.coverage.cameras([query], query) : [[await this.camera(query, cameraId)]];
    const listed = cameras.flat();
    if (listed.length * bucketCount(grid) > MAX_BUCKETS) throw invalid([tooManyBuckets()]);
    const wanted = listed.map(({ names }) => ({ connectionId, truckId, names: [...names] }));
    const seconds = await this.buckets.of(wanted, grid);
    return listed.flatMap(({ name }, i) =>
      (seconds[i] ?? []).map((states, bucket) => {
        const [start, end] = bucketRange(grid, bucket).map((ms) => formatInstant(new Date(ms)));
        return {
          ...(name === undefined ? {} : { cameraId: name }),
          startTime: start ?? '',
          endTime: end ?? '',
          ...states,
        };
      }),
    );
  }

  private async camera(query: CoverageQuery, name: string): Promise<Camera> {
    const [pairs = []] = await namePairsOf(this.dataSource, [query]);
    return { name, names: new Set(namesOf(name, pairs)) };
  }

  private async intervals(query: CoverageQuery): Promise<CoverageInterval[]> {
    const { cameraId } = query;
    const [pairs = []] = await namePairsOf(this.dataSource, [query]);
    const names = cameraId === undefined ? null : namesOf(cameraId, pairs);
    const recordings = await this.coverage.recordings(query, names, MAX_RECORDINGS + 1);
    if (recordings.length > MAX_RECORDINGS) throw invalid([tooManyRecordings()]);
    const subscriptions = await this.coverage.subscriptions(query, names);
    const found = new Set(
      [...recordings, ...subscriptions].map(({ camera_id }) => camera_id).filter((id) => id !== null),
    );
    const cameras = cameraId === undefined ? camerasOf(found, pairs) : [{ name: cameraId, names: new Set(names) }];
    const [from, to] = [epochMillis(query.from), epochMillis(query.to)];
    const data: CoverageInterval[] = [];
    for (const camera of cameras.length === 0 ? [UNKNOWN_CAMERA] : cameras) {
      const pieces = recordings.filter(({ camera_id }) => camera.names.has(camera_id)).flatMap(toPieces);
      const own = subscriptions.filter(({ camera_id }) => camera_id === null || camera.names.has(camera_id));
      const asked = own.flatMap(toAsked).sort((a, b) => b.at - a.at);
      const failing = own.flatMap((row) => row.failing.map(toTimes));
      let startTime = formatInstant(new Date(from));
      for (const piece of coverageOf([...pieces, ...missingPieces(own.map(toSubscribed), Date.now())], from, to)) {
        const interval = toInterval(piece, { cameraId: camera.name, startTime, asked, failing });
        data.push(interval);
        // Each interval begins where the one before ended, so that a time is formatted once.
        startTime = interval.endTime;
      }
      await yieldToEventLoop();
    }
    return data;
  }
}

/** The coverage of all trucks of a hauler, by day. */
@Injectable()
export class FleetCoverage {
  constructor(
    private readonly coverage: CoverageRepository,
    private readonly buckets: CoverageBuckets,
  ) {}

  /** By truck and then by day. Reads the recordings of the page's trucks only. */
  async list(query: FleetCoverageQuery): Promise<List<TruckDayCoverage>> {
    const violations = rangeViolations(query);
    if (violations.length > 0) throw invalid(violations);
    const [fromMs, toMs] = [epochMillis(query.from), epochMillis(query.to)];
    const grid = { originMs: Math.floor(fromMs / DAY_MS) * DAY_MS, stepMs: DAY_MS, fromMs, toMs };
    const days = bucketCount(grid);
    const trucks = await this.coverage.trucks(query);
    const { first, end, pagination } = positionedPage('coverage/fleet', query, trucks.length * days);
    const firstTruck = Math.floor(first / days);
    const shown = trucks.slice(firstTruck, Math.ceil(end / days));
    const rows = await this.truckDays(shown, query, grid);
    const skipped = firstTruck * days;
    return { data: rows.slice(first - skipped, end - skipped), pagination };
  }

  private async truckDays(
    trucks: Parameters<CoverageRepository['cameras']>[0],
    query: FleetCoverageQuery,
    grid: BucketGrid,
  ): Promise<TruckDayCoverage[]> {
    const cameras = await this.coverage.cameras(trucks, query);
    const listed = trucks.flatMap((truck, i) =>
      (cameras[i] ?? []).map(({ names }) => ({ ...truck, names: [...names] })),
    );
    const seconds = await this.buckets.of(listed, grid);
    let done = 0;
    return trucks.flatMap(({ connectionId, truckId }, i) => {
      const count = cameras[i]?.length ?? 0;
      const own = seconds.slice(done, (done += count));
      return Array.from({ length: bucketCount(grid) }, (_, day) => ({
        connectionId,
        truckId,
        day: new Date(grid.originMs + day * DAY_MS).toISOString().slice(0, 10),
        cameras: count,
        ...sumOf(own.flatMap((buckets) => buckets[day] ?? [])),
      }));
    });
  }
}

const tooManyRecordings = (): Violation => ({
  path: 'to',
  rule: 'isRange',
  message: `there are more than ${MAX_RECORDINGS} recordings between from and to: request a shorter time, or pass resolution`,
});

const tooManyBuckets = (): Violation => ({
  path: 'resolution',
  rule: 'isRange',
  message: `resolution must be larger: at most ${MAX_BUCKETS} buckets of all cameras are returned`,
});

/** The recorded parts of a recording, and its gaps. */
function toPieces(row: CoverageRecordingRow): Piece[] {
  const { id, start_time, end_time, status, reason, gaps } = row;
  const recorded = {
    state: STATES[status],
    recordingId: id,
    ...(reason === null || status === 'stored' ? {} : { reason }),
    ...(status === 'stored' ? {} : { cause: causeOf(row) }),
  };
  const pieces: Piece[] = [];
  let start = start_time.getTime();
  for (const gap of gaps ?? []) {
    const [gapStart, gapEnd] = [Date.parse(gap.startTime), Date.parse(gap.endTime)];
    pieces.push({ ...recorded, start, end: gapStart });
    pieces.push({ state: 'missing', recordingId: id, reason: gap.reason, cause: 'gap', start: gapStart, end: gapEnd });
    start = gapEnd;
  }
  return [...pieces, { ...recorded, start, end: end_time.getTime() }];
}

function causeOf({ status, reason_code: code, is_removed: isRemoved }: CoverageRecordingRow): CoverageCause {
  if (status === 'available') return 'waiting';
  return code ?? (isRemoved ? FILE_REMOVED : 'unknown');
}

const toTimes = ({ start, end, reason }: CoverageSubscriptionRow['unread'][number]) => ({
  start: Date.parse(start),
  end: Date.parse(end),
  reason,
});

function toSubscribed({ start_time, read_until, last_error, is_ended, unread }: CoverageSubscriptionRow): Subscribed {
  return {
    start: start_time.getTime(),
    readUntil: read_until.getTime(),
    unread: unread.map(toTimes),
    isEnded: is_ended,
    ...(last_error === null ? {} : { reason: last_error }),
  };
}

const toAsked = ({ asked }: CoverageSubscriptionRow): AskedRange[] =>
  asked.map(({ start, end, at }) => ({ start: Date.parse(start), end: Date.parse(end), at: Date.parse(at) }));

interface IntervalContext {
  readonly cameraId: string | undefined;
  readonly startTime: string;
  readonly asked: readonly AskedRange[];
  readonly failing: readonly ReturnType<typeof toTimes>[];
}

function toInterval(piece: Piece, { cameraId, startTime, asked, failing }: IntervalContext): CoverageInterval {
  const { start, end, state, recordingId } = piece;
  const at = piece.isRead === true ? lastAskedAt(asked, start, end) : undefined;
  const askedAt = at === undefined ? undefined : formatInstant(new Date(at));
  const failed = failing.find((window) => window.start < end && window.end > start);
  const reason = piece.isRead === true ? listsNone(askedAt, failed?.reason) : piece.reason;
  return {
    ...(cameraId === undefined ? {} : { cameraId }),
    startTime,
    endTime: formatInstant(new Date(end)),
    state,
    ...(recordingId === undefined ? {} : { recordingId }),
    ...(reason === undefined ? {} : { reason }),
    ...(piece.cause === undefined ? {} : { cause: piece.cause, side: SIDES[piece.cause] }),
    ...(askedAt === undefined ? {} : { lastAskedAt: askedAt }),
  };
}
