import { epochMillis, type Instant, instantOf } from '../../contracts/common/instant.js';

export interface Range {
  readonly startTime: Instant;
  readonly endTime: Instant;
}

/** What four digits of a year can hold, in milliseconds; a range that begins there has no end. */
export const LAST = epochMillis('9999-12-31T23:59:59.999999Z');

/**
 * Cuts a range into pieces of at most `minutes` that meet, the last one taking what is left (decision 42). What goes over
 * the wire has whole milliseconds (decision 7): the start is rounded down and the end up, but never into one piece more.
 */
export function splitRange({ startTime, endTime }: Range, minutes: number): Range[] {
  const step = minutes * 60_000;
  const start = epochMillis(startTime);
  const last = epochMillis(endTime);
  const count = Math.max(1, Math.ceil((last - start) / step));
  const roundedUp = instantOf(new Date(last)) < endTime ? last + 1 : last;
  const end = Math.min(roundedUp, start + count * step, LAST);
  return Array.from({ length: count }, (_, i) => ({
    startTime: instantOf(new Date(start + i * step)),
    endTime: instantOf(new Date(Math.min(start + (i + 1) * step, end))),
  }));
}
