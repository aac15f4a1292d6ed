import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { FILE_REMOVED } from '../../contracts/admin/recording.dto.js';
import type { CoverageCause } from '../../contracts/admin/coverage.dto.js';
import { epochMillis, formatInstant } from '../../contracts/common/instant.js';
import type { Violation } from '../../contracts/common/violation.js';
import { invalid } from '../../errors/app-error.js';
import { namePairsOf, type Truck } from '../recordings/camera-names.repository.js';
import { isSameCamera, namesOf } from '../recordings/camera-names.rules.js';
import type { RecordingState } from '../recordings/recording.rules.js';
import type { Recorded } from './packed-recordings.js';
import {
  type CoveredCamera,
  CoverageRepository,
  type CoverageRecordingRow,
  type CoverageSubscriptionRow,
  type ErasedRow,
  type TruckCamera,
  type TruckRange,
} from './coverage.repository.js';
import {
  type AskedRange,
  clipPiece,
  coverageOf,
  type CoverageState,
  isUnread,
  missingPieces,
  type Piece,
  RANK,
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
  readonly camera: CoveredCamera;
  readonly pieces: readonly Piece[];
  /** Latest first. */
  readonly asked: readonly AskedRange[];
  readonly failing: readonly Times[];
}

/** The time of a truck's cameras, split where the state or its cause changes. */
@Injectable()
export class CoveragePieces {
  constructor(
    private readonly dataSource: DataSource,
    private readonly coverage: CoverageRepository,
  ) {}

  /** The cameras of the truck, or the one that is named. */
  async cameras(query: TruckRange, cameraId?: string): Promise<readonly CoveredCamera[]> {
    if (cameraId === undefined) return (await this.coverage.cameras([query], query))[0] ?? [];
    const [pairs = []] = await namePairsOf(this.dataSource, [query]);
    return [{ name: cameraId, names: new Set(namesOf(cameraId, pairs)), isAbsent: false }];
  }

  /** Of each camera, what is still to come and what was not read, whatever was recorded. */
  async unrecorded(cameras: readonly TruckCamera[], range: Pick<TruckRange, 'from' | 'to'>): Promise<Recorded[][]> {
    const subscriptions = await this.coverage.subscriptions(cameras, range);
    const [from, to] = [epochMillis(range.from), epochMillis(range.to)];
    return cameras.map((camera) => {
      const own = subscriptions.filter(includes(camera, new Set(camera.names)));
      return coverageOf(missingPieces(own.map(toSubscribed), Date.now()), from, to).flatMap(toUnrecorded);
    });
  }

  /** Of each camera; one after the other, so that the event loop is not held for all of them at once. */
  async of(query: TruckRange, cameras: readonly CoveredCamera[]): Promise<(() => CameraPieces)[]> {
    const names = cameras.flatMap((camera) => [...camera.names]);
    const recordings = await this.coverage.recordings(query, names, MAX_RECORDINGS + 1);
    if (recordings.length > MAX_RECORDINGS) throw invalid([tooManyRecordings()]);
    const subscriptions = await this.coverage.subscriptions([query], query);
    const clips = await this.coverage.failedClips(query, names);
    const erased = await this.coverage.erased(query);
    const [from, to] = [epochMillis(query.from), epochMillis(query.to)];
    return cameras.map((camera) => () => {
      const isOf = ({ camera_id: name }: { readonly camera_id: string }) => camera.names.has(name);
      const own = subscriptions.filter(includes(query, camera.names));
      const pieces = coverageOf(
        [
          ...recordings.filter(isOf).flatMap(toPieces),
          ...clips.filter(isOf).map(({ start_time, end_time, reason }) => {
            return clipPiece(start_time.getTime(), end_time.getTime(), reason ?? 'The requested clip never came.');
          }),
          ...erased
            .filter(({ camera_id: name }) => name === null || hasName(camera, name))
            .map((row) => erasedPiece(row.start_time.getTime(), row.end_time.getTime(), erasedReason(row))),
          ...missingPieces(own.map(toSubscribed), Date.now()),
        ],
        from,
        to,
      );
      const asked = own.flatMap(toAsked).sort((a, b) => b.at - a.at);
      return { camera, pieces, asked, failing: own.flatMap((row) => row.failing.map(toTimes)) };
    });
  }
}

/** Whether a subscription includes a camera of a truck. */
const includes =
  ({ connectionId, truckId }: Truck, names: ReadonlySet<string>) =>
  ({ connection_id, truck_id, camera_id }: CoverageSubscriptionRow): boolean =>
    connection_id === connectionId && truck_id === truckId && (camera_id === null || names.has(camera_id));

function toUnrecorded({ start, end, cause }: Piece): Recorded[] {
  const rank = cause === 'future' ? RANK.future : isUnread({ cause }) ? RANK.unread : undefined;
  return rank === undefined ? [] : [{ start: start * 1000, end: end * 1000, rank }];
}

/** A range that an erasure has closed. Better than nothing that follows, so that it is not reported as missing. */
const erasedPiece = (start: number, end: number, reason: string): Piece => ({
  ...{ start, end, reason },
  ...{ state: 'expired', cause: 'erased' },
});

/** The other names of a camera are among its own. */
const hasName = ({ names }: CoveredCamera, name: string): boolean => [...names].some((own) => isSameCamera(own, name));

const erasedReason = ({ id, created_at: at }: ErasedRow): string =>
  `Erased at ${formatInstant(at)} (erasure ${id}). It is not fetched again.`;

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

const toAsked = ({ asked }: CoverageSubscriptionRow): AskedRange[] =>
  asked.map(({ start, end, at }) => ({ start: Date.parse(start), end: Date.parse(end), at: Date.parse(at) }));
