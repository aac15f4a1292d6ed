import type { Violation } from './violation.js';

/** A time zone that JavaScript and PostgreSQL read alike. */
export interface TimeZone {
  /** A name of the IANA database with its region, or `UTC`. */
  readonly name: string;
  /** East of it, in minutes: zero unless the zone was written as an offset. */
  readonly offsetMinutes: number;
}

const OFFSET = /^([+-])(0\d|1[0-4]):([0-5]\d)$/;

/** `SystemV/CST6` is in ICU alone. */
const REGION = /^(?!systemv\/)[a-z][\w+-]*(\/[\w+-]+)+$/i;

/**
 * What people mean by abbreviations. JavaScript, PostgreSQL and the IANA database give several of them different meanings, so
 * that none is read.
 */
const MEANT: Readonly<Record<string, string>> = {
  AST: 'America/Halifax',
  EST: 'America/New_York',
  EDT: 'America/New_York',
  CST: 'America/Chicago',
  CDT: 'America/Chicago',
  MST: 'America/Denver',
  MDT: 'America/Denver',
  PST: 'America/Los_Angeles',
  PDT: 'America/Los_Angeles',
  AKST: 'America/Anchorage',
  HST: 'Pacific/Honolulu',
  BST: 'Europe/London',
  IST: 'Asia/Kolkata',
  CET: 'Europe/Berlin',
  CEST: 'Europe/Berlin',
  JST: 'Asia/Tokyo',
  AEST: 'Australia/Sydney',
};

/** Reads a zone: an IANA name with its region in any case, `UTC`, `GMT`, or an offset `-06:00`, east being positive. */
export function readTimeZone(text: string): TimeZone | undefined {
  // A query string has a blank for a plus (decision 7).
  const offset = OFFSET.exec(text.replace(/^ /, '+'));
  if (offset !== null) {
    const [, sign, hours, minutes] = offset;
    return { name: 'UTC', offsetMinutes: (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) };
  }
  if (/^(utc|gmt)$/i.test(text)) return { name: 'UTC', offsetMinutes: 0 };
  return REGION.test(text) && knownName(text) !== undefined ? { name: text, offsetMinutes: 0 } : undefined;
}

/** What is wrong with a zone that was not read, with the name to use. */
export function timeZoneViolation(path: string, text: string): Violation {
  const meant = MEANT[text.toUpperCase()] ?? knownName(text);
  const name = meant !== undefined && REGION.test(meant) ? meant : 'America/Chicago';
  const what = `${path} must be a time zone with its region, such as ${name}, or an offset from UTC, such as -06:00`;
  const message = meant === undefined ? what : `${what}: names without a region have several meanings`;
  return { path, rule: 'isEnum', message };
}

/** The name that JavaScript has for a zone. */
function knownName(text: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}
