import type { AttentionKind } from '../../contracts/admin/attention.routes.js';

interface Check {
  readonly title: string;
  /** What a person does about a finding, at its page or by its call. */
  readonly act: string;
  /** Findings of one connection whose kinds have the same cause are one problem. */
  readonly cause?: 'partner' | 'footage';
}

const GUIDE = 'What to do';

/** What each check looks at. */
export const CHECKS: Readonly<Record<AttentionKind, Check>> = {
  'outbound-off': { title: 'Calls to partners', act: 'See connections' },
  'database-trouble': { title: 'Database', act: GUIDE },
  replication: { title: 'Standbys of the database', act: GUIDE },
  clock: { title: 'Clock', act: GUIDE },
  'missing-partitions': { title: 'Partitions', act: GUIDE },
  'storage-trouble': { title: 'Video storage', act: GUIDE },
  'kept-versions': { title: 'Old versions of video', act: GUIDE },
  'late-work': { title: 'Late work', act: GUIDE },
  'refused-keys': { title: 'Refused key', act: 'Give a new key', cause: 'partner' },
  'failing-calls': { title: 'Failing calls', act: 'Check now', cause: 'partner' },
  'failing-runs': { title: 'Failing synchronisation', act: 'Synchronise now', cause: 'partner' },
  'unread-windows': { title: 'Unread lists', act: 'Ask again', cause: 'partner' },
  'held-runs': { title: 'Held synchronisation', act: 'Decide' },
  'quarantined-records': { title: 'Quarantine', act: 'See records' },
  'absent-lists': { title: 'Absent lists', act: 'See the run' },
  'held-at-risk': { title: 'Held footage at risk', act: 'Fetch now', cause: 'footage' },
  'downloads-at-risk': { title: 'Downloads at risk', act: 'Fetch now', cause: 'footage' },
  'failed-downloads': { title: 'Failed recordings', act: 'Ask again', cause: 'footage' },
  'expired-downloads': { title: 'Expired recordings', act: 'Ask again', cause: 'footage' },
  'failed-clips': { title: 'Failed clips', act: 'Ask again' },
  'refused-pushes': { title: 'Refused pushes', act: 'Replay' },
  'expiring-keys': { title: 'Key about to expire', act: 'Issue successor' },
  'retention-stopped': { title: 'Deletion by age', act: 'See recordings' },
  'lost-exchanges': { title: 'Exchange log', act: 'See exchanges' },
  'failing-webhooks': { title: 'Webhooks', act: 'See the endpoint' },
};

/** What a problem is known by. */
interface Finding {
  readonly kind: AttentionKind;
  readonly haulerId?: string | null;
  readonly connection?: { readonly id: string };
  readonly subject: string;
}

/** Findings with the same text are one problem: by connection and cause, then by hauler. A refused key lets calls and runs fail. */
export function problemOf({ kind, connection, haulerId, subject }: Finding): string {
  const cause = CHECKS[kind].cause ?? kind;
  if (kind === 'refused-pushes') return `${kind} ${haulerId ?? ''} ${subject}`;
  if (connection !== undefined) return `${cause} ${connection.id}`;
  return kind === 'expiring-keys' ? `${kind} ${haulerId ?? ''}` : `${kind} ${subject}`;
}
