import { epochMillis, type Instant } from '../../contracts/common/instant.js';
import type { CoverageCause, CoverageSide } from '../../contracts/admin/coverage.dto.js';
import type { Violation } from '../../contracts/common/violation.js';

const MAX_RANGE_MS = 31 * 86_400_000;
/** 31 local days have an hour more where summer time ends. */
const LOCAL_DAYS_MS = MAX_RANGE_MS + 3_600_000;

interface QueriedRange {
  readonly from: Instant;
  readonly to: Instant;
  readonly zone?: string;
}

export function rangeViolations({ from, to, zone }: QueriedRange): Violation[] {
  const longest = zone === undefined ? MAX_RANGE_MS : LOCAL_DAYS_MS;
  if (to > from && epochMillis(to) - epochMillis(from) <= longest) return [];
  return [{ path: 'to', rule: 'isRange', message: 'to must be after from, and at most 31 days later' }];
}

/** The states of decision 49, the best one first. Where recordings overlap, the better state counts. */
const COVERAGE_STATES = ['stored', 'available', 'expired', 'missing'] as const;
export type CoverageState = (typeof COVERAGE_STATES)[number];

/** Ranks below every recording: what is still to come, a clip in vain, an unread window, the range of a subscription, a time without one. */
const [FUTURE_RANK, CLIP_RANK, UNREAD_RANK, SUBSCRIBED_RANK, UNSUBSCRIBED_RANK] = [4, 5, 6, 7, 8];

/** A state of one camera over a time; milliseconds since the epoch, the end excluded. */
export interface Piece {
  readonly start: number;
  readonly end: number;
  readonly state: CoverageState;
  /** Where pieces overlap, the lowest rank counts. Default: the position of the state in `COVERAGE_STATES`. */
  readonly rank?: number;
  readonly recordingId?: string;
  readonly reason?: string;
  /** Unless it is stored. */
  readonly cause?: CoverageCause;
  /** The partner was asked for this time, and listed nothing. */
  readonly isRead?: true;
}

/** Whose part a cause is. */
export const SIDES: Readonly<Record<CoverageCause, CoverageSide>> = {
  waiting: 'platform',
  notListed: 'partner',
  linkRefused: 'partner',
  unreachable: 'network',
  invalidFile: 'partner',
  addressRefused: 'partner',
  tooLarge: 'platform',
  interrupted: 'platform',
  fileRemoved: 'platform',
  erased: 'platform',
  gap: 'partner',
  clipFailed: 'partner',
  notRecorded: 'parked',
  unread: 'unknown',
  notReadYet: 'platform',
  notSubscribed: 'platform',
  connectionDeleted: 'platform',
  future: 'future',
  unknown: 'unknown',
};

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
  one.state === other.state &&
  one.recordingId === other.recordingId &&
  one.reason === other.reason &&
  one.cause === other.cause;

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

/** The reason of a time that was read. `askedAt`: see `lastAskedAt`; `failure`: why it cannot be read again. */
export function listsNone(askedAt?: string, failure?: string): string {
  const asked = askedAt === undefined ? '' : `; it was last asked at ${askedAt}`;
  return `The partner lists no recording${asked}.${failure === undefined ? '' : ` Asking again failed: ${failure}`}`;
}

/** When a time was listed; milliseconds since the epoch. */
export interface AskedRange {
  readonly start: number;
  readonly end: number;
  readonly at: number;
}

/** When the partner was last asked for this time: for its parts at different times, the earliest of these. `asked`: latest first. */
export function lastAskedAt(asked: readonly AskedRange[], start: number, end: number): number | undefined {
  let open = [{ start, end }];
  for (const reading of asked) {
    open = open.flatMap((part) =>
      [
        { start: part.start, end: Math.min(part.end, reading.start) },
        { start: Math.max(part.start, reading.end), end: part.end },
      ].filter((rest) => rest.start < rest.end),
    );
    if (open.length === 0) return reading.at;
  }
  return undefined;
}

const FOREVER = Number.MAX_SAFE_INTEGER;

/** Covers all time with the reasons why there may be no recording. After `now` nothing can be recorded. */
export const missingPieces = (subscriptions: readonly Subscribed[], now = FOREVER): Piece[] => [
  missing(FUTURE_RANK, now, FOREVER, 'This time is still to come.', 'future'),
  ...subscriptions.flatMap((each) => [
    ...each.unread.map(({ start, end, reason }) => missing(UNREAD_RANK, start, end, ...notRead({ ...each, reason }))),
    { ...missing(SUBSCRIBED_RANK, each.start, each.readUntil, listsNone(), 'notRecorded'), isRead: true as const },
    missing(SUBSCRIBED_RANK, each.readUntil, FOREVER, ...notRead(each)),
  ]),
  missing(UNSUBSCRIBED_RANK, -FOREVER, FOREVER, 'No subscription includes the truck at this time.', 'notSubscribed'),
];

/** A requested clip that never came. */
export const clipPiece = (start: number, end: number, reason: string): Piece =>
  missing(CLIP_RANK, start, end, reason, 'clipFailed');

const missing = (rank: number, start: number, end: number, reason: string, cause: CoverageCause): Piece => ({
  start,
  end,
  state: 'missing',
  rank,
  reason,
  cause,
});

function notRead({ reason, isEnded }: Pick<Subscribed, 'reason' | 'isEnded'>): [string, CoverageCause] {
  if (isEnded === true) {
    return ['Not read: the connection was deleted, and nothing more will be read.', 'connectionDeleted'];
  }
  return reason === undefined ? ['Not read yet.', 'notReadYet'] : [`Not read yet: ${reason}`, 'unread'];
}

/** The partner was not asked, or its list could not be read: nobody knows what was recorded. */
const NOT_READ: readonly (CoverageCause | undefined)[] = ['unread', 'notReadYet', 'connectionDeleted'];

export const isUnread = ({ cause }: Pick<Piece, 'cause'>): boolean => NOT_READ.includes(cause);

/** Something was recorded or requested, and its file will not come by itself. */
export const isLost = ({ state, recordingId, cause }: Pick<Piece, 'state' | 'recordingId' | 'cause'>): boolean =>
  state === 'expired' || (state === 'missing' && (recordingId !== undefined || cause === 'clipFailed'));

/** Equal buckets from `originMs` on; the first and the last one are cut at the range. Milliseconds since the epoch. */
export interface BucketGrid {
  readonly originMs: number;
  readonly stepMs: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** The borders of buckets that are not equal, from `fromMs` to `toMs`. */
  readonly edges?: readonly number[];
}

export const bucketCount = ({ originMs, stepMs, toMs, edges }: BucketGrid): number =>
  edges === undefined ? Math.ceil((toMs - originMs) / stepMs) : edges.length - 1;

export function bucketRange({ originMs, stepMs, fromMs, toMs, edges }: BucketGrid, bucket: number): [number, number] {
  if (edges !== undefined) return [edges[bucket] ?? toMs, edges[bucket + 1] ?? toMs];
  const start = originMs + bucket * stepMs;
  return [Math.max(start, fromMs), Math.min(start + stepMs, toMs)];
}

export interface StateSeconds {
  readonly stored: number;
  readonly available: number;
  readonly expired: number;
  readonly missing: number;
  /** Of the missing ones, with a recording or a requested clip that failed. */
  readonly failed: number;
  /** The expired and the failed ones. */
  readonly lost: number;
  /** Of the missing ones, those whose list was not read. */
  readonly unread: number;
  /** Still to come. */
  readonly future: number;
}

/** The best one first: where several share a time, it counts. The numbers stand in what PostgreSQL packs. */
export const RANK = {
  stored: 1,
  available: 2,
  expired: 3,
  failed: 4,
  future: 5,
  clipFailed: 6,
  unread: 7,
} as const;
const RANKS = Object.values(RANK);

type RankSeconds = Readonly<Record<keyof typeof RANK, number>>;

/** What the ranks of `seconds` add up to. */
export function stateSeconds(seconds: number, of: RankSeconds): StateSeconds {
  const { stored, available, expired, future, unread } = of;
  const failed = of.failed + of.clipFailed;
  const all = { stored, available, expired, failed, lost: expired + failed, unread, future };
  const missing = seconds - stored - available - expired - future;
  return mapSeconds({ ...all, missing }, rounded);
}

export const mapSeconds = (
  seconds: StateSeconds,
  change: (one: number, state: keyof StateSeconds) => number,
): StateSeconds =>
  Object.fromEntries(
    Object.entries(seconds).map(([state, one]: [string, number]) => [state, change(one, state as keyof StateSeconds)]),
  ) as unknown as StateSeconds;

/**
 * The covered time of one camera in each bucket. Takes a million recordings, in the order of their start, and makes no object
 * for any of them. Times are microseconds since the epoch, which numbers hold exactly.
 */
export class CameraSweep {
  /** How far the pieces so far reach: stored ones; stored and available ones; also expired ones; and so on to all. */
  private readonly reached: Float64Array;
  /** The time of recordings that begin after the end of all earlier ones, by rank and bucket. */
  private readonly apart: readonly Float64Array[];
  /** The time that other recordings add to each set, by set and bucket. */
  private readonly added: readonly Float64Array[];
  private readonly origin: number;
  private readonly step: number;
  private readonly to: number;
  private readonly edges: readonly number[] | undefined;

  constructor(private readonly grid: BucketGrid) {
    this.edges = grid.edges?.map((edge) => edge * 1000);
    [this.origin, this.step, this.to] = [grid.originMs * 1000, grid.stepMs * 1000, grid.toMs * 1000];
    this.reached = new Float64Array(RANKS.length).fill(grid.fromMs * 1000);
    const none = () => RANKS.map(() => new Float64Array(bucketCount(grid)));
    [this.apart, this.added] = [none(), none()];
  }

  /** `rank`: of `RANK`. */
  add(start: number, end: number, rank: number): void {
    const to = end < this.to ? end : this.to;
    if (start >= to) return;
    const isApart = start >= (this.reached[RANKS.length - 1] as number);
    if (isApart) this.cover(this.apart[rank - 1] as Float64Array, start, to);
    for (let i = rank - 1; i < RANKS.length; i++) {
      const reached = this.reached[i] as number;
      if (reached >= to) continue;
      this.reached[i] = to;
      if (!isApart) this.cover(this.added[i] as Float64Array, start > reached ? start : reached, to);
    }
  }

  private cover(buckets: Float64Array, start: number, to: number): void {
    for (let from = start, bucket = this.bucketAt(start); from < to; bucket++) {
      const bucketEnd = this.endOf(bucket);
      const cut = bucketEnd < to ? bucketEnd : to;
      buckets[bucket] = (buckets[bucket] as number) + cut - from;
      from = cut;
    }
  }

  private bucketAt(time: number): number {
    if (this.edges === undefined) return Math.floor((time - this.origin) / this.step);
    return Math.max(
      0,
      this.edges.findLastIndex((edge) => edge <= time),
    );
  }

  private endOf(bucket: number): number {
    return this.edges === undefined ? this.origin + (bucket + 1) * this.step : (this.edges[bucket + 1] ?? this.to);
  }

  /** The seconds of each state, by bucket. */
  seconds(): StateSeconds[] {
    return Array.from({ length: bucketCount(this.grid) }, (_, i) => {
      const [start, end] = bucketRange(this.grid, i);
      const added = (set: number) => this.added[set]?.[i] ?? 0;
      const ofRank = (rank: number) =>
        ((this.apart[rank - 1]?.[i] ?? 0) + added(rank - 1) - added(rank - 2)) / 1_000_000;
      const seconds = Object.fromEntries(Object.entries(RANK).map(([state, rank]) => [state, ofRank(rank)]));
      return stateSeconds((end - start) / 1000, seconds as unknown as RankSeconds);
    });
  }
}

/** To the millisecond; sums of microseconds have tiny errors. */
const rounded = (seconds: number): number => Math.max(0, Math.round(seconds * 1000) / 1000);

const NO_SECONDS = stateSeconds(0, {
  stored: 0,
  available: 0,
  expired: 0,
  failed: 0,
  future: 0,
  clipFailed: 0,
  unread: 0,
});

/** The seconds of several cameras or buckets together. */
export const sumOf = (all: readonly StateSeconds[]): StateSeconds =>
  mapSeconds(NO_SECONDS, (_, state) => rounded(all.reduce((sum, each) => sum + each[state], 0)));
