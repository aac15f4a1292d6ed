/**
 * An instant in its canonical form, `2026-01-02T03:04:05.123456Z`: always UTC, always six decimals, so that two of
 * them compare as text and PostgreSQL reads them without loss. Microseconds count for order (decision 7).
 */
export type Instant = string & { readonly brand?: 'Instant' };

const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:([Zz])|([+-])(\d{2}):(\d{2}))$/;

/** What nearly everyone sends, UTC without a leap second: it is canonical but for its fraction, and costs no `Date`. */
const UTC = /^(?!0000)\d{4}-(\d\d)-(\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?Z$/;

/** Of January to December; 29 February is left to the calendar. */
const DAYS_OF_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Reads an RFC 3339 date-time with an offset; `undefined` when it is none, or no real calendar date (decision 7). */
export function parseInstant(text: string): Instant | undefined {
  const utc = UTC.exec(text);
  if (utc !== null && Number(utc[2]) > 0 && Number(utc[2]) <= (DAYS_OF_MONTH[Number(utc[1]) - 1] ?? 0)) {
    return text.length === 20 ? `${text.slice(0, 19)}.000000Z` : `${text.slice(0, -1).slice(0, 26).padEnd(26, '0')}Z`;
  }
  const match = RFC3339.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const offset = (match[9] === '-' ? -1 : 1) * (Number(match[10] ?? 0) * 60 + Number(match[11] ?? 0));
  if (hour > 23 || minute > 59 || second > 60 || Number(match[10] ?? 0) > 23 || Number(match[11] ?? 0) > 59)
    return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  // A day that the month has not, the 0th too, is one of another month.
  if (date.getUTCMonth() !== month - 1) return undefined;
  date.setUTCHours(hour, minute - offset, Math.min(second, 59));
  if (second === 60) {
    if (!isLeapSecond(date)) return undefined;
    date.setUTCSeconds(60);
  }
  // PostgreSQL knows no year 0, and four digits hold no year 10000.
  if (date.getUTCFullYear() < 1 || date.getUTCFullYear() > 9999) return undefined;
  return `${date.toISOString().slice(0, 19)}.${(match[7] ?? '').slice(0, 6).padEnd(6, '0')}Z`;
}

/** Leap seconds are only ever inserted before midnight UTC at the end of June or December. */
function isLeapSecond(date: Date): boolean {
  return /-(06-30|12-31)T23:59:59/.test(date.toISOString());
}

/** How answers write an instant: UTC with `Z`, milliseconds where there are any (decision 7). */
export function formatInstant(instant: Instant | Date): string {
  const text = instant instanceof Date ? instant.toISOString() : instant;
  const [seconds = '', fraction = ''] = text.split('.');
  const millis = fraction.slice(0, 3);
  return millis === '000' ? `${seconds}Z` : `${seconds}.${millis}Z`;
}

/** The canonical form of a JavaScript date. */
export function instantOf(date: Date): Instant {
  return `${date.toISOString().slice(0, 23)}000Z`;
}

/** Milliseconds since the epoch; what is finer is cut off. */
export function epochMillis(instant: Instant): number {
  return Date.parse(`${instant.slice(0, 23)}Z`);
}

/** From the one to the other in whole seconds, as section 2.6 wants durations. */
export function secondsBetween(start: Instant, end: Instant): number {
  return Math.round((epochMillis(end) - epochMillis(start)) / 1000);
}

/** From one instant to another, which may be the earlier one; exact where they are less than 285 years apart. */
export function microsBetween(from: Instant, to: Instant): number {
  const finer = (instant: Instant): number => Number(instant.slice(23, 26));
  return (epochMillis(to) - epochMillis(from)) * 1000 + finer(to) - finer(from);
}
