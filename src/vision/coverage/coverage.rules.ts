import type { TimeZone } from '../../contracts/common/time-zone.js';
import { epochMillis, type Instant } from '../../contracts/common/instant.js';
import type { CoverageCause, CoverageSide } from '../../contracts/admin/coverage.routes.js';
import type { Violation } from '../../contracts/common/violation.js';
import { type Span, without } from '../range.js';

const MINUTE_MS = 60_000;
/** No local day is longer. */
const LONGEST_DAY = 36 * 60;

export interface LocalDay {
  /** For example `2026-01-31`. */
  readonly day: string;
  /** Milliseconds since the epoch, cut at the range. */
  readonly start: number;
  readonly end: number;
}

/** The days of a range as a calendar in the zone has them: of 23 or 25 hours where the clocks change. */
export function localDays(from: number, to: number, { name, offsetMinutes }: TimeZone): LocalDay[] {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone: name, dateStyle: 'short' });
  const dayOf = (time: number) => format.format(time + offsetMinutes * MINUTE_MS);
  const days: LocalDay[] = [];
  for (let start = from; start < to;) {
    const day = dayOf(start);
    const end = Math.min(
      to,
      nextDay(start, (minute) => dayOf(minute * MINUTE_MS) === day),
    );
    days.push({ day, start, end });
    start = end;
  }
  return days;
}

/** The first minute of the next day, by halving: a midnight may not exist, so that it cannot be computed. */
function nextDay(start: number, isSameDay: (minute: number) => boolean): number {
  let low = Math.floor(start / MINUTE_MS);
  let high = low + LONGEST_DAY;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isSameDay(middle)) low = middle;
    else high = middle;
  }
  return high * MINUTE_MS;
}

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

/** The states of decision 49. */
export type CoverageState = 'stored' | 'available' | 'expired' | 'missing';

/** The best one first: where pieces overlap, it counts. `missing` is a recording that failed; what follows is said of a time without one. */
const RANKS = [
  'stored',
  'available',
  'expired',
  'missing',
  'future',
  'clipFailed',
  'unread',
  'subscribed',
  'notSubscribed',
] as const;
type Rank = (typeof RANKS)[number];

/** A state of one camera over a time; milliseconds since the epoch, the end excluded. */
export interface Piece extends Span {
  readonly state: CoverageState;
  /** Default: the state. */
  readonly rank?: Rank;
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

const rankOf = ({ state, rank = state }: Piece): number => RANKS.indexOf(rank);

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
  readonly unread: readonly (Span & { readonly reason: string })[];
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
export interface AskedSpan extends Span {
  readonly at: number;
}

/** When the partner was last asked for this time: for its parts at different times, the earliest of these. `asked`: latest first. */
export function lastAskedAt(asked: readonly AskedSpan[], start: number, end: number): number | undefined {
  let open: Span[] = [{ start, end }];
  for (const reading of asked) {
    open = open.flatMap((part) => without(part, reading));
    if (open.length === 0) return reading.at;
  }
  return undefined;
}

const FOREVER = Number.MAX_SAFE_INTEGER;

/** Covers all time with the reasons why there may be no recording. After `now` nothing can be recorded. */
export const missingPieces = (subscriptions: readonly Subscribed[], now = FOREVER): Piece[] => [
  missing('future', now, FOREVER, 'This time is still to come.', 'future'),
  ...subscriptions.flatMap((each) => [
    ...each.unread.map(({ start, end, reason }) => missing('unread', start, end, ...notRead({ ...each, reason }))),
    { ...missing('subscribed', each.start, each.readUntil, listsNone(), 'notRecorded'), isRead: true as const },
    missing('subscribed', each.readUntil, FOREVER, ...notRead(each)),
  ]),
  missing('notSubscribed', -FOREVER, FOREVER, 'No subscription includes the truck at this time.', 'notSubscribed'),
];

/** A requested clip that never came. */
export const clipPiece = (start: number, end: number, reason: string): Piece =>
  missing('clipFailed', start, end, reason, 'clipFailed');

const missing = (rank: Rank, start: number, end: number, reason: string, cause: CoverageCause): Piece => ({
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

/** The states that are summed; the rest of a time is missing. */
export type FootageState = 'stored' | 'available' | 'expired' | 'failed' | 'clipFailed' | 'unread' | 'future';

export const NO_FOOTAGE: Readonly<Record<FootageState, number>> = {
  stored: 0,
  available: 0,
  expired: 0,
  failed: 0,
  clipFailed: 0,
  unread: 0,
  future: 0,
};

/** What is summed of a piece without a recording; undefined if it is just missing. */
export function footageState({ state, cause }: Piece): FootageState | undefined {
  if (state === 'expired') return state;
  if (cause === 'clipFailed' || cause === 'future') return cause;
  return isUnread({ cause }) ? 'unread' : undefined;
}

/** Of a time of so many seconds. */
export function stateSeconds(seconds: number, of: Readonly<Record<FootageState, number>>): StateSeconds {
  const { stored, available, expired, unread, future } = of;
  const failed = of.failed + of.clipFailed;
  const missing = seconds - stored - available - expired - future;
  return mapSeconds({ stored, available, expired, failed, lost: expired + failed, unread, future, missing }, rounded);
}

export const mapSeconds = (
  seconds: StateSeconds,
  change: (one: number, state: keyof StateSeconds) => number,
): StateSeconds =>
  Object.fromEntries(
    Object.entries(seconds).map(([state, one]: [string, number]) => [state, change(one, state as keyof StateSeconds)]),
  ) as unknown as StateSeconds;

/** To the millisecond; sums of microseconds have tiny errors. */
const rounded = (seconds: number): number => Math.max(0, Math.round(seconds * 1000) / 1000);

/** The seconds of several cameras or buckets together. */
export const sumOf = (all: readonly StateSeconds[]): StateSeconds =>
  mapSeconds(stateSeconds(0, NO_FOOTAGE), (_, state) => rounded(all.reduce((sum, each) => sum + each[state], 0)));
