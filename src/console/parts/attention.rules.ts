import type { Attention, AttentionKind, CheckedKind } from '../../contracts/admin/attention.dto.js';

interface Check {
  readonly title: string;
  /** Shown if it was made and found nothing. */
  readonly none: string;
}

/** What each check looks at. */
export const CHECKS: Readonly<Record<AttentionKind, Check>> = {
  'outbound-off': { title: 'Calls to partners', none: 'Partners are called' },
  'database-trouble': { title: 'Database', none: 'The database takes writes' },
  'missing-partitions': { title: 'Partitions', none: 'Every table has partitions for the time to come' },
  'storage-trouble': { title: 'Video storage', none: 'The video storage takes files' },
  'kept-versions': { title: 'Old versions of video', none: 'Deleted video leaves no old version in the bucket' },
  'refused-keys': { title: 'Refused key', none: 'No key was refused at the last call' },
  'failing-calls': { title: 'Failing calls', none: 'The last call of each operation was answered' },
  'held-runs': { title: 'Held synchronisation', none: 'No run waits for a decision' },
  'failing-runs': { title: 'Failing synchronisation', none: 'The last run of each connection succeeded' },
  'quarantined-records': { title: 'Quarantine', none: 'The last run of each connection stored every record' },
  'absent-lists': { title: 'Lists that are absent', none: 'No list was left out three times in a row' },
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
