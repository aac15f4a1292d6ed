import { type FailureKind, PartnerFailure } from '../../partner-client/partner-failure.js';

/** Milliseconds since the epoch, the end excluded. */
export interface Window {
  readonly start: number;
  readonly end: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const MAX_WINDOW_MS = 24 * HOUR_MS;
/** The partner may not have listed later recordings yet. */
const CLOSED_AFTER_MS = MINUTE_MS;
/** How far back a reading looks for chunks that were listed late. */
const REREAD_MS = 6 * HOUR_MS;

/** How far a subscription was read, in milliseconds since the epoch. */
export interface ReadingPosition {
  readonly startTime: number;
  /** The end of the last window that was read or deferred. */
  readonly readUntil: number;
  /** When that window was read or deferred; undefined before the first one. */
  readonly lastReadAt: number | undefined;
}

/**
 * The next window to read (decision 48): at most 24 h, and ended at least a minute ago. It starts at `readUntil`, or 6 h
 * before the last reading if that is earlier, so that it includes chunks that were listed late. Undefined if no later
 * time has ended.
 */
export function nextWindow(
  { startTime, readUntil, lastReadAt }: ReadingPosition,
  now: number,
): (Window & { readonly isLast: boolean }) | undefined {
  const closed = now - CLOSED_AFTER_MS;
  if (now <= readUntil) return undefined;
  const complete = lastReadAt === undefined ? readUntil : lastReadAt - REREAD_MS;
  const start = Math.max(startTime, Math.min(readUntil, complete));
  const isLast = start + MAX_WINDOW_MS >= closed;
  const end = isLast ? Math.max(closed, readUntil) : start + MAX_WINDOW_MS;
  return start < end ? { start, end, isLast } : undefined;
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
