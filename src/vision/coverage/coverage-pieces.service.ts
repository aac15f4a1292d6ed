import { Injectable } from '@nestjs/common';
import { FILE_REMOVED } from '../../contracts/admin/recordings.routes.js';
import type { CoverageCause } from '../../contracts/admin/coverage.routes.js';
import { epochMillis, formatInstant } from '../../contracts/common/instant.js';
import type { Violation } from '../../contracts/common/violation.js';
import { Database } from '../../core/database/database.js';
import { invalid } from '../../core/errors/app-error.js';
import { namePairsOf } from '../recordings/camera-names.repository.js';
import type { Truck } from '../truck.js';
import { isSameCamera, namesOf } from '../recordings/camera-names.rules.js';
import type { RecordingState } from '../recordings/recording.rules.js';
import {
  type CoverageRecordingRow,
  CoverageRepository,
  type CoverageSubscriptionRow,
  type CoveredCamera,
  type ErasedRow,
  type FailedClipRow,
  type QueryTime,
  type TruckCamera,
} from './coverage.repository.js';
import {
  type AskedSpan,
  clipPiece,
  coverageOf,
  type CoverageState,
  missingPieces,
  type Piece,
  type Subscribed,
} from './coverage.rules.js';

/** A month of chunks of one minute has 44,640. Their intervals take about 50 MiB and hold the event loop for 0.1 s. */
const MAX_RECORDINGS = 50_000;

const STATES: Readonly<Record<RecordingState, CoverageState>> = {
  stored: 'stored',
  available: 'available',
  expired: 'expired',
  failed: 'missing',
};

/** The time of one camera without gaps, and what was asked about it. */
export interface CameraPieces {
  readonly pieces: readonly Piece[];
  /** Latest first. */
  readonly asked: readonly AskedSpan[];
  readonly failing: readonly Times[];
}

/** The time of a truck's cameras, split where the state or its cause changes. */
@Injectable()
export class CoveragePieces {
  constructor(
    private readonly database: Database,
    private readonly coverage: CoverageRepository,
  ) {}

  /** The cameras of the truck, or the one that is named. */
  async cameras(query: Truck & QueryTime, cameraId?: string): Promise<readonly CoveredCamera[]> {
    if (cameraId === undefined) return (await this.coverage.cameras([query], query))[0] ?? [];
    const { connectionId, truckId } = query;
    const [pairs = []] = await namePairsOf(this.database, [query]);
    return [{ connectionId, truckId, name: cameraId, names: namesOf(cameraId, pairs), isAbsent: false }];
  }

  /** Of each camera, what is known of its time besides its recordings, in pieces as `coverageOf` has them. */
  async withoutRecordings(cameras: readonly TruckCamera[], range: QueryTime): Promise<CameraPieces[]> {
    const subscriptions = byTruck(await this.coverage.subscriptions(cameras, range));
    const clips = byTruck(await this.coverage.failedClips(cameras, range));
    const erased = byTruck(await this.coverage.erased(cameras, range));
    const [from, to] = [epochMillis(range.from), epochMillis(range.to)];
    return cameras.map((camera) => {
      const truck = keyOf(camera.connectionId, camera.truckId);
      const names = new Set(camera.names);
      const own = (subscriptions.get(truck) ?? []).filter(({ camera_id: name }) => name === null || names.has(name));
      const pieces = [
        ...(clips.get(truck) ?? []).filter(({ camera_id: name }) => names.has(name)).map(toClipPiece),
        ...(erased.get(truck) ?? [])
          .filter(({ camera_id: name }) => name === null || hasName(camera, name))
          .map(toErased),
        ...missingPieces(own.map(toSubscribed), Date.now()),
      ];
      return {
        pieces: coverageOf(pieces, from, to),
        asked: own.flatMap(toAsked).sort((a, b) => b.at - a.at),
        failing: own.flatMap((row) => row.failing.map(toTimes)),
      };
    });
  }

  /** Of each camera, with its recordings; one after the other, so that the event loop is not held for all of them at once. */
  async of(query: Truck & QueryTime, cameras: readonly CoveredCamera[]): Promise<(() => CameraPieces)[]> {
    const names = cameras.flatMap((camera) => camera.names);
    const recordings = await this.coverage.recordings(query, names, MAX_RECORDINGS + 1);
    if (recordings.length > MAX_RECORDINGS) throw invalid([tooManyRecordings()]);
    const others = await this.withoutRecordings(cameras, query);
    const [from, to] = [epochMillis(query.from), epochMillis(query.to)];
    return others.map((each, i) => () => {
      const own = recordings.filter(({ camera_id: name }) => cameras[i]?.names.includes(name));
      return { ...each, pieces: coverageOf([...own.flatMap(toPieces), ...each.pieces], from, to) };
    });
  }
}

const keyOf = (connectionId: string, truckId: string): string => `${connectionId} ${truckId}`;

const byTruck = <Row extends { readonly connection_id: string; readonly truck_id: string }>(rows: readonly Row[]) =>
  Map.groupBy(rows, ({ connection_id: connectionId, truck_id: truckId }) => keyOf(connectionId, truckId));

const toClipPiece = ({ start_time: start, end_time: end, reason }: FailedClipRow): Piece =>
  clipPiece(start.getTime(), end.getTime(), reason ?? 'The requested clip never came.');

/** A range that an erasure has closed. Better than nothing that follows, so that it is not reported as missing. */
const toErased = ({ id, start_time, end_time, created_at: at }: ErasedRow): Piece => ({
  start: start_time.getTime(),
  end: end_time.getTime(),
  state: 'expired',
  cause: 'erased',
  reason: `Erased at ${formatInstant(at)} (erasure ${id}). It is not fetched again.`,
});

/** The other names of a camera are among its own. */
const hasName = ({ names }: TruckCamera, name: string): boolean => names.some((own) => isSameCamera(own, name));

const tooManyRecordings = (): Violation => ({
  path: 'to',
  rule: 'isRange',
  message: `there are more than ${MAX_RECORDINGS} recordings between from and to: request a shorter time, or pass resolution`,
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

type Times = ReturnType<typeof toTimes>;

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

const toAsked = ({ asked }: CoverageSubscriptionRow): AskedSpan[] =>
  asked.map(({ start, end, at }) => ({ start: Date.parse(start), end: Date.parse(end), at: Date.parse(at) }));
