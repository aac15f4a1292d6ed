import type { TimeZone } from '../../contracts/common/time-zone.js';

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
