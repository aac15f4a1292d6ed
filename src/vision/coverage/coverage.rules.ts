import { epochMillis, type Instant } from '../../contracts/common/instant.js';
import type { Violation } from '../../contracts/common/violation.js';

const MAX_RANGE_MS = 31 * 86_400_000;

export function rangeViolations({ from, to }: { readonly from: Instant; readonly to: Instant }): Violation[] {
  if (to > from && epochMillis(to) - epochMillis(from) <= MAX_RANGE_MS) return [];
  return [{ path: 'to', rule: 'isRange', message: 'to must be after from, and at most 31 days later' }];
}

/** The states of decision 49, the best one first. Where recordings overlap, the better state counts. */
const COVERAGE_STATES = ['stored', 'available', 'expired', 'missing'] as const;
export type CoverageState = (typeof COVERAGE_STATES)[number];

/** Ranks below every recording: an unread window, then the range of a subscription, then a time without subscription. */
const [UNREAD_RANK, SUBSCRIBED_RANK, UNSUBSCRIBED_RANK] = [4, 5, 6];

/** A state of one camera over a time; milliseconds since the epoch, the end excluded. */
export interface Piece {
  readonly start: number;
  readonly end: number;
  readonly state: CoverageState;
  /** Where pieces overlap, the lowest rank counts. Default: the position of the state in `COVERAGE_STATES`. */
  readonly rank?: number;
  readonly recordingId?: string;
  readonly reason?: string;
}

/**
 * The intervals of `[from, to)` in order, without gaps and overlaps. Of several pieces the best one counts, and of equally
 * good ones the first. Together `pieces` must cover the whole time: `missingPieces` does.
 */
export function coverageOf(pieces: readonly Piece[], from: number, to: number): Piece[] {
  const within = pieces.filter(({ start, end }) => start < to && end > from && start < end);
  const marks = new Set([from, to]);
  for (const { start, end } of within) marks.add(Math.max(start, from)).add(Math.min(end, to));
  const cuts = Float64Array.from(marks).sort();
  const sorted = within.sort((a, b) => a.start - b.start || b.end - a.end);
  const intervals: Piece[] = [];
  let last: Piece | undefined;
  let active: Piece[] = [];
  let next = 0;
  for (let i = 0; i + 1 < cuts.length; i++) {
    const [start = from, end = to] = [cuts[i], cuts[i + 1]];
    active = active.filter((piece) => piece.end > start);
    for (let piece = sorted[next]; piece !== undefined && piece.start <= start; piece = sorted[++next]) {
      active.push(piece);
    }
    const best = active.reduce((one, other) => (rankOf(one) <= rankOf(other) ? one : other));
    if (last !== undefined && isSame(last, best)) last = { ...last, end };
    else {
      if (last !== undefined) intervals.push(last);
      last = { ...best, start, end };
    }
  }
  if (last !== undefined) intervals.push(last);
  return intervals;
}

const rankOf = ({ state, rank = COVERAGE_STATES.indexOf(state) }: Piece): number => rank;

/** Whether two adjacent pieces differ only in time. */
const isSame = (one: Piece, other: Piece): boolean =>
  one.state === other.state && one.recordingId === other.recordingId && one.reason === other.reason;

/** A subscription that includes the camera. */
export interface Subscribed {
  readonly start: number;
  readonly readUntil: number;
  readonly unread: readonly { readonly start: number; readonly end: number; readonly reason: string }[];
  /** The failure of the last reading, which is why the time after `readUntil` is not read. */
  readonly reason?: string;
  /** The connection was deleted, so that nothing more will be read. */
  readonly isEnded?: boolean;
}

const FOREVER = Number.MAX_SAFE_INTEGER;

/** Covers all time with the reasons why there may be no recording. */
export const missingPieces = (subscriptions: readonly Subscribed[]): Piece[] => [
  ...subscriptions.flatMap((each) => [
    ...each.unread.map(({ start, end, reason }) => missing(UNREAD_RANK, start, end, notRead({ ...each, reason }))),
    missing(SUBSCRIBED_RANK, each.start, each.readUntil, 'The partner lists no recording.'),
    missing(SUBSCRIBED_RANK, each.readUntil, FOREVER, notRead(each)),
  ]),
  missing(UNSUBSCRIBED_RANK, -FOREVER, FOREVER, 'No subscription includes the truck at this time.'),
];

const missing = (rank: number, start: number, end: number, reason: string): Piece => ({
  start,
  end,
  state: 'missing',
  rank,
  reason,
});

function notRead({ reason, isEnded }: Pick<Subscribed, 'reason' | 'isEnded'>): string {
  if (isEnded === true) return 'Not read: the connection was deleted, and nothing more will be read.';
  return reason === undefined ? 'Not read yet.' : `Not read yet: ${reason}`;
}

/** Equal buckets from `originMs` on; the first and the last one are cut at the range. Milliseconds since the epoch. */
export interface BucketGrid {
  readonly originMs: number;
  readonly stepMs: number;
  readonly fromMs: number;
  readonly toMs: number;
}

export const bucketCount = ({ originMs, stepMs, toMs }: BucketGrid): number => Math.ceil((toMs - originMs) / stepMs);

export function bucketRange({ originMs, stepMs, fromMs, toMs }: BucketGrid, bucket: number): [number, number] {
  const start = originMs + bucket * stepMs;
  return [Math.max(start, fromMs), Math.min(start + stepMs, toMs)];
}

/**
 * The coverage that recordings of one camera add to the coverage of earlier ones, for three sets of states: stored; stored or
 * available; stored, available or expired. For each set: the bucket in which the new coverage starts, and its seconds in
 * that bucket; null for none.
 */
export interface CoverageSums {
  readonly camera: number;
  readonly buckets: readonly [number, number, number];
  readonly seconds: readonly [number | null, number | null, number | null];
  /** The bucket in which the recordings end. The buckets between are covered wholly, and this one up to `endSeconds`. */
  readonly last: number;
  /** Since the origin. */
  readonly endSeconds: number;
}

export interface StateSeconds {
  readonly stored: number;
  readonly available: number;
  readonly expired: number;
  readonly missing: number;
}

/** Milliseconds since the epoch. */
export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The recordings of one camera and one state that start in a bucket, of a part that was read up to `upperSeconds`. */
export interface PlainSums {
  readonly camera: number;
  readonly bucket: number;
  /** 1 stored, 2 available, 3 expired. */
  readonly rank: number;
  readonly seconds: number;
  /** Of the last of them. Since the origin, as `upperSeconds`. */
  readonly endSeconds: number;
  readonly upperSeconds: number;
  /** Recordings overlap here, up to `endSeconds`. */
  readonly isMixed: boolean;
}

/** The covered seconds of each bucket, by camera and set of states. */
type Covered = readonly (readonly Float64Array[])[];

/**
 * Where no recordings overlap their seconds are the coverage. `mixed`: the time within which they do, in whole buckets, and
 * the cameras; these have nothing covered there yet.
 */
export function plainBuckets(
  sums: readonly PlainSums[],
  cameras: number,
  grid: BucketGrid,
): { readonly covered: Covered; readonly mixed: TimeRange & { readonly cameras: ReadonlySet<number> } } {
  const count = bucketCount(grid);
  const step = grid.stepMs / 1000;
  const covered = Array.from({ length: cameras }, () => [1, 2, 3].map(() => new Float64Array(count)));
  const mixed = new Set<number>();
  let [first, last] = [count - 1, 0];
  for (const each of sums) {
    covered[each.camera]?.slice(each.rank - 1).forEach((buckets) => addPlain(buckets, each, step));
    if (!each.isMixed) continue;
    mixed.add(each.camera);
    first = Math.min(first, each.bucket);
    last = Math.max(last, Math.ceil(Math.min(each.endSeconds, each.upperSeconds) / step) - 1);
  }
  for (const camera of mixed) for (const buckets of covered[camera] ?? []) buckets.fill(0, first, last + 1);
  return { covered, mixed: { cameras: mixed, fromMs: bucketRange(grid, first)[0], toMs: bucketRange(grid, last)[1] } };
}

/** Only the last recording of a bucket can reach into the next ones. */
function addPlain(buckets: Float64Array, { bucket, seconds, endSeconds, upperSeconds }: PlainSums, step: number) {
  const beyond = Math.max(0, endSeconds - Math.min((bucket + 1) * step, upperSeconds));
  buckets[bucket] = (buckets[bucket] ?? 0) + seconds - beyond;
  const end = Math.min(endSeconds, upperSeconds);
  for (let i = bucket + 1; i * step < end; i++) buckets[i] = (buckets[i] ?? 0) + Math.min(end - i * step, step);
}

/** The seconds of each state, by camera and bucket; adds `sums` to `covered`. */
export function bucketsOf(covered: Covered, sums: readonly CoverageSums[], grid: BucketGrid): StateSeconds[][] {
  const count = bucketCount(grid);
  for (const each of sums) {
    covered[each.camera]?.forEach((buckets, set) => addSums(buckets, each, set, grid.stepMs / 1000));
  }
  return covered.map(([stored = none, available = none, expired = none]) =>
    Array.from({ length: count }, (_, i) => {
      const [start, end] = bucketRange(grid, i);
      const [one = 0, two = 0, three = 0] = [stored[i], available[i], expired[i]];
      return {
        stored: rounded(one),
        available: rounded(two - one),
        expired: rounded(three - two),
        missing: rounded((end - start) / 1000 - three),
      };
    }),
  );
}

const none = new Float64Array();

function addSums(
  buckets: Float64Array,
  { seconds, last, endSeconds, ...sums }: CoverageSums,
  set: number,
  step: number,
) {
  const [added = null, first = 0] = [seconds[set], sums.buckets[set]];
  if (added === null) return;
  buckets[first] = (buckets[first] ?? 0) + added;
  for (let i = first + 1; i <= last; i++) buckets[i] = (buckets[i] ?? 0) + Math.min(endSeconds - i * step, step);
}

/** To the millisecond; sums of microseconds have tiny errors. */
const rounded = (seconds: number): number => Math.max(0, Math.round(seconds * 1000) / 1000);

/** The seconds of several cameras together. */
export const sumOf = (all: readonly StateSeconds[]): StateSeconds => ({
  stored: rounded(all.reduce((sum, { stored }) => sum + stored, 0)),
  available: rounded(all.reduce((sum, { available }) => sum + available, 0)),
  expired: rounded(all.reduce((sum, { expired }) => sum + expired, 0)),
  missing: rounded(all.reduce((sum, { missing }) => sum + missing, 0)),
});
