import type { Rereading } from '../../core/config/parse.js';
import { type FailureKind, PartnerFailure } from '../../partner-client/partner-failure.js';
import type { Span } from '../range.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const MAX_WINDOW_MS = DAY_MS;
/** The partner may not have listed later recordings yet. */
const CLOSED_AFTER_MS = MINUTE_MS;

/** The end of the last window that is closed now (decision 48). */
export const closedUntil = (now: number): number => now - CLOSED_AFTER_MS;

/** How far a subscription was read, in milliseconds since the epoch. */
export interface ReadingPosition {
  readonly startTime: number;
  /** The end of the last window that was read or deferred. */
  readonly readUntil: number;
  /** When that window was read or deferred; undefined before the first one. */
  readonly lastReadAt: number | undefined;
}

/** How far back each reading looks for chunks that were listed late. */
export const overlapMs = (rereadings: readonly Rereading[]): number =>
  Math.max(0, ...rereadings.filter(({ everyMs }) => everyMs === 0).map(({ backMs }) => backMs));

/**
 * The next window to read (decision 48): at most 24 h, and ended at least a minute ago. It starts at `readUntil`, or
 * `backMs` before the last reading if that is earlier. Undefined if no later time has ended.
 */
export function nextWindow(
  { startTime, readUntil, lastReadAt }: ReadingPosition,
  now: number,
  backMs: number,
): (Span & { readonly isLast: boolean }) | undefined {
  const closed = closedUntil(now);
  if (now <= readUntil) return undefined;
  const complete = lastReadAt === undefined ? readUntil : lastReadAt - backMs;
  const start = Math.max(startTime, Math.min(readUntil, complete));
  const isLast = start + MAX_WINDOW_MS >= closed;
  const end = isLast ? Math.max(closed, readUntil) : start + MAX_WINDOW_MS;
  return start < end ? { start, end, isLast } : undefined;
}

/** Where in its interval a subscription begins a re-reading, from 0 to 1. The last characters of its id are random. */
export const shareOf = (id: string): number => Number.parseInt(id.slice(-8), 16) / 2 ** 32;

/**
 * What the re-readings that are due list again (decision 48), as one window that ends at `until`, where the current reading
 * begins. Time is divided into periods of each re-reading's interval. A re-reading is due at the first reading of a period, and
 * looks back from the start of the period of the reading before: no chunk grows too old between two re-readings, however long
 * the service was stopped. `share` moves the periods, so that a thousand subscriptions are not re-read together.
 */
export function rereadWindow(
  rereadings: readonly Rereading[],
  {
    startTime,
    lastReadAt,
    until,
    now,
    share,
  }: Pick<ReadingPosition, 'startTime' | 'lastReadAt'> & {
    readonly until: number;
    readonly now: number;
    readonly share: number;
  },
): Span | undefined {
  if (lastReadAt === undefined) return undefined;
  const periodOf = (at: number, everyMs: number) => Math.floor(at / everyMs + share);
  const starts = rereadings
    .filter(({ everyMs }) => everyMs > 0 && periodOf(now, everyMs) > periodOf(lastReadAt, everyMs))
    .map(({ backMs, everyMs }) => Math.floor((periodOf(lastReadAt, everyMs) - share) * everyMs) - backMs);
  const start = Math.max(startTime, Math.min(...starts));
  return start < until ? { start, end: until } : undefined;
}

/** The window cut at the midnights of UTC. A later re-reading of a day joins one that still waits. */
export function daysOf({ start, end }: Span): Span[] {
  const days: Span[] = [];
  for (let from = start; from < end; from = days.at(-1)?.end ?? end) {
    days.push({ start: from, end: Math.min(end, (Math.floor(from / DAY_MS) + 1) * DAY_MS) });
  }
  return days;
}

/** A window with this many failures in a row is deferred. */
const MAX_FAILURES_IN_TURN = 3;

/** Failures that may concern one window. After any other, the partner would fail for the other windows as well. */
const WINDOW_FAILURES: ReadonlySet<FailureKind> = new Set([
  'failed',
  'timedOut',
  'breach',
  'notJson',
  'tooLarge',
  'rejected',
]);

/**
 * Whether to defer a failed window, so that the windows after it are read before their links expire. The 504 of a gateway
 * mostly means that this window takes too long; a 404 means that the customer or the truck is unknown.
 */
export function shouldDefer(error: unknown, attempt: number): boolean {
  if (attempt < MAX_FAILURES_IN_TURN) return false;
  if (!(error instanceof PartnerFailure)) return true;
  const { kind, status } = error;
  return status === 504 || (WINDOW_FAILURES.has(kind) && status !== 404);
}
