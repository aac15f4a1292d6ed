import type { ApiKey } from '../../contracts/admin/api-key.dto.js';
import type { Attention, AttentionKind, CheckedKind } from '../../contracts/admin/attention.dto.js';
import type { Exchange } from '../../contracts/admin/exchange.dto.js';
import type { OverviewHour } from '../../contracts/admin/overview.dto.js';

const HOUR_MS = 3_600_000;
const RENEW_MS = 14 * 24 * HOUR_MS;

interface Check {
  readonly title: string;
  /** Shown if it was made and found nothing. */
  readonly none: string;
}

/** What each check looks at. */
export const CHECKS: Readonly<Record<AttentionKind, Check>> = {
  'outbound-off': { title: 'Calls to partners', none: 'Partners are called' },
  'locked-haulers': { title: 'Haulers that move', none: 'No hauler is locked for a move' },
  'database-trouble': { title: 'Database', none: 'The database takes writes' },
  'missing-partitions': { title: 'Partitions', none: 'Every table has partitions for the time to come' },
  'storage-trouble': { title: 'Video storage', none: 'The video storage takes files' },
  'kept-versions': { title: 'Old versions of video', none: 'Deleted video leaves no old version in the bucket' },
  'refused-keys': { title: 'Refused key', none: 'No partner refused our key at its last call' },
  'failing-calls': { title: 'Failing calls', none: 'Every partner answered the last call of each operation' },
  'held-runs': { title: 'Held synchronisation', none: 'No run waits for a decision' },
  'failing-runs': { title: 'Failing synchronisation', none: 'The last run of each connection succeeded' },
  'quarantined-records': { title: 'Quarantine', none: 'The last run of each connection stored every record' },
  'absent-lists': { title: 'Lists that are absent', none: 'No partner has left out a list three times in a row' },
  'held-at-risk': { title: 'Held footage at risk', none: 'Every listed recording that a hold needs is stored' },
  'retention-stopped': { title: 'Deletion by age', none: 'Stored video is deleted by age as set' },
  'downloads-at-risk': { title: 'Downloads at risk', none: 'No waiting download has failed or is about to expire' },
  'unread-windows': { title: 'Unread lists', none: "All times of the trucks' lists were read" },
  'failed-downloads': { title: 'Failed recordings', none: 'No recording has failed' },
  'expired-downloads': { title: 'Expired recordings', none: 'No recording expired before it was stored' },
  'failed-clips': { title: 'Failed clips', none: 'No clip request ended without a file' },
  'refused-pushes': { title: 'Refused pushes', none: 'No push was refused in the last day' },
  'expiring-keys': { title: 'Key about to expire', none: 'No key expires within 14 days' },
  'lost-exchanges': { title: 'Exchange log', none: 'No exchange was lost in the last day' },
  'failing-webhooks': { title: 'Webhooks', none: 'Every webhook endpoint works' },
};

export const SEVERITY_TONES = { now: 'bad', soon: 'warn', watch: 'plain' } as const;

/** The checks that were made and found nothing. */
export function checksInOrder({ checked, data }: Pick<Attention, 'checked' | 'data'>): CheckedKind[] {
  const found = new Set(data.map(({ kind }) => kind));
  return checked.filter(({ kind, ok }) => ok && !found.has(kind));
}

/** The checks that could not be made. */
export const unknownChecks = ({ checked }: Pick<Attention, 'checked'>): CheckedKind[] =>
  checked.filter(({ ok }) => !ok);

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
