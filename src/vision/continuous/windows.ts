/** Milliseconds since the epoch, the end not included. */
export interface Window {
  readonly start: number;
  readonly end: number;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** How often is looked whether what is paused goes on. */
export const PAUSED_MS = MINUTE;

const LONGEST_MS = 24 * HOUR;
/** What ended less than this ago may not be listed yet. */
const CLOSED_MS = MINUTE;
/** Chunks that were listed late are looked for so far back. */
const REREAD_MS = 6 * HOUR;

export interface Reading {
  readonly startTime: number;
  /** Up to where windows were read or laid by. */
  readonly readUntil: number;
  /** When the last one was; undefined before the first. */
  readonly lookedAt: number | undefined;
}

/**
 * The next window to read (decision 48): at most 24 h, ended a minute ago or earlier. It begins at `readUntil`, or 6 h before
 * the last look where that is earlier, however long ago that look was: what was listed late then is found now. Undefined
 * where nothing is closed yet.
 */
export function nextWindow(
  { startTime, readUntil, lookedAt }: Reading,
  now: number,
): (Window & { readonly last: boolean }) | undefined {
  const closed = now - CLOSED_MS;
  if (now <= readUntil) return undefined;
  const settled = lookedAt === undefined ? readUntil : lookedAt - REREAD_MS;
  const start = Math.max(startTime, Math.min(readUntil, settled));
  const last = start + LONGEST_MS >= closed;
  const end = last ? Math.max(closed, readUntil) : start + LONGEST_MS;
  return start < end ? { start, end, last } : undefined;
}
