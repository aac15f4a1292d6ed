/**
 * An instant in its canonical form, `2026-01-02T03:04:05.123456Z`: always UTC, always six decimals, so that two of
 * them compare as text and PostgreSQL reads them without loss. Microseconds count for order (decision 7).
 */
export type Instant = string & { readonly brand?: 'Instant' };

const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:([Zz])|([+-])(\d{2}):(\d{2}))$/;

/** The most frequent form, UTC without a leap second. Only its fraction is converted, without a `Date`. */
const UTC = /^(?!0000)\d{4}-(\d\d)-(\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?Z$/;

/** Of January to December; 29 February is left to the calendar. */
const DAYS_OF_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Reads an RFC 3339 date-time with an offset. Undefined for other text and for dates that do not exist (decision 7). */
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
  // `Date` converts a day that the month does not have, also day 0, into a day of another month.
  if (date.getUTCMonth() !== month - 1) return undefined;
  date.setUTCHours(hour, minute - offset, Math.min(second, 59));
  if (second === 60) {
    if (!isLeapSecond(date)) return undefined;
    date.setUTCSeconds(60);
  }
  // PostgreSQL has no year 0, and a year has four digits.
  if (date.getUTCFullYear() < 1 || date.getUTCFullYear() > 9999) return undefined;
  return `${date.toISOString().slice(0, 19)}.${(match[7] ?? '').slice(0, 6).padEnd(6, '0')}Z`;
}

/** Without seconds, with a comma or a blank, with a short offset, `UTC`, or a zone beside the offset. A time without any offset is none: nobody knows its zone. */
const LOOSE =
  /^\s*(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(?:(:\d\d)(?:[.,](\d+))?)? ?(?:[Zz]|UTC|GMT|([+-]\d\d)(?::?(\d\d))?)(?:\[[\w/+-]+\])?\s*$/;

/**
 * The RFC 3339 form of a time that a partner wrote in another one (decision 7). Undefined if it has that form already, or
 * cannot be read.
 */
export function strictTime(text: string): string | undefined {
  const match = LOOSE.exec(text);
  if (match === null || parseInstant(text) !== undefined) return undefined;
  const [, date, minute, seconds = ':00', fraction, hours, minutes = '00'] = match;
  const time = `${date}T${minute}${seconds}${fraction === undefined ? '' : `.${fraction}`}`;
  const strict = time + (hours === undefined ? 'Z' : `${hours}:${minutes}`);
  return parseInstant(strict) === undefined ? undefined : strict;
}

/** The finding about such a time. It does not name the value, so that it stays the same from list to list. */
export const looseTimeMessage = (path: string): string =>
  `${path} must be a date-time of RFC 3339, such as 2026-01-31T08:30:00Z; it was read all the same`;

/** Leap seconds are only ever inserted before midnight UTC at the end of June or December. */
function isLeapSecond(date: Date): boolean {
  return /-(06-30|12-31)T23:59:59/.test(date.toISOString());
}

/** The form of an instant in responses: UTC with `Z`, and milliseconds if they are not 0 (decision 7). */
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

/** Milliseconds since the epoch, without the microseconds. */
export function epochMillis(instant: Instant): number {
  return Date.parse(`${instant.slice(0, 23)}Z`);
}

/** Whole seconds from one instant to another, the durations of section 2.6. */
export function secondsBetween(start: Instant, end: Instant): number {
  return Math.round((epochMillis(end) - epochMillis(start)) / 1000);
}

/** Microseconds from one instant to another, negative if that is earlier; exact up to 285 years. */
export function microsBetween(from: Instant, to: Instant): number {
  const finer = (instant: Instant): number => Number(instant.slice(23, 26));
  return (epochMillis(to) - epochMillis(from)) * 1000 + finer(to) - finer(from);
}
