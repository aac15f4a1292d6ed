import type { ApiKey } from '../../contracts/admin/access.dto.js';
import type { Connection } from '../../contracts/admin/connection.dto.js';
import type { Exchange } from '../../contracts/admin/exchange.dto.js';
import type { OverviewHour } from '../../contracts/admin/overview.dto.js';
import type { StoredRecording } from '../../contracts/admin/recording.dto.js';
import type { SyncRun } from '../../contracts/admin/sync-run.dto.js';

const HOUR_MS = 3_600_000;
const RENEW_MS = 14 * 24 * HOUR_MS;

/** The failed run of a connection is listed itself, with the same error. */
export function withoutFailedRuns(connections: readonly Connection[], runs: readonly SyncRun[]): Connection[] {
  const listed = new Set(runs.map(({ connectionId }) => connectionId));
  return connections.filter(({ id }) => !listed.has(id));
}

/** Downloads that have not begun and whose link expires within an hour. */
export const atRisk = (waiting: readonly StoredRecording[], now: number): StoredRecording[] =>
  waiting.filter(({ expiresAt }) => expiresAt !== undefined && Date.parse(expiresAt) - now < HOUR_MS);

/** Exchanges without a usable answer, newest first; those of the sandbox are meant to be so. */
export const newestFailures = (exchanges: readonly Exchange[]): Exchange[] =>
  exchanges
    .filter(({ scenario }) => scenario === undefined)
    .filter(({ status, failure }) => status === null || status >= 400 || failure !== undefined)
    .sort((one, other) => Date.parse(other.at) - Date.parse(one.at));

/** An active key that expires soon is expiring. */
export function keyState({ revokedAt, expiresAt }: ApiKey, now: number): 'active' | 'expiring' | 'expired' | 'revoked' {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt === null) return 'active';
  const left = Date.parse(expiresAt) - now;
  return left <= 0 ? 'expired' : left < RENEW_MS ? 'expiring' : 'active';
}

/** The keys that expire soon, the first one first. */
export function keysToRenew(keys: readonly ApiKey[], now: number): ApiKey[] {
  const soon = keys.filter((key) => keyState(key, now) === 'expiring');
  const end = ({ expiresAt }: ApiKey) => Date.parse(expiresAt ?? '');
  return soon.sort((one, other) => end(one) - end(other));
}

export interface Series {
  /** Also the class of its parts. */
  readonly name: string;
  readonly title: string;
  readonly read: (hour: OverviewHour) => number;
}

export interface DayBar {
  readonly startTime: string;
  readonly counts: readonly { readonly title: string; readonly count: number }[];
  readonly parts: readonly { readonly name: string; readonly share: number }[];
}

/** The bars of a day, with heights in proportion to the busiest hour. */
export function dayBars(hours: readonly OverviewHour[], series: readonly Series[]): DayBar[] {
  const sums = hours.map((hour) => series.reduce((sum, { read }) => sum + read(hour), 0));
  const busiest = Math.max(1, ...sums);
  return hours.map((hour) => {
    const present = series
      .map(({ name, title, read }) => ({ name, title, count: read(hour) }))
      .filter((each) => each.count > 0);
    return {
      startTime: hour.startTime,
      counts: present,
      parts: present.map(({ name, count }) => ({ name, share: count / busiest })),
    };
  });
}

export const totalOf = (hours: readonly OverviewHour[], { read }: Series): number =>
  hours.reduce((sum, hour) => sum + read(hour), 0);

export const TICKET_SERIES: readonly Series[] = [
  { name: 'created', title: 'created', read: ({ tickets }) => tickets.created },
  { name: 'updated', title: 'updated', read: ({ tickets }) => tickets.updated },
  { name: 'unchanged', title: 'unchanged', read: ({ tickets }) => tickets.unchanged },
  { name: 'stale', title: 'stale', read: ({ tickets }) => tickets.stale },
  { name: 'refused', title: 'refused', read: ({ tickets }) => tickets.refused },
];

export const RECORDING_SERIES: readonly Series[] = [
  { name: 'created', title: 'stored', read: ({ recordingsStored }) => recordingsStored },
];

export const EXCHANGE_SERIES: readonly Series[] = [
  { name: 'created', title: 'succeeded', read: ({ exchanges }) => exchanges.succeeded },
  { name: 'stale', title: '4xx', read: ({ exchanges }) => exchanges.refused },
  { name: 'refused', title: '5xx', read: ({ exchanges }) => exchanges.failed },
  { name: 'unanswered', title: 'no response', read: ({ exchanges }) => exchanges.unanswered },
];
