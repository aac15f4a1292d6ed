import {
  type Attention,
  type AttentionItem,
  type AttentionKind,
  type CheckedKind,
} from '../../contracts/admin/attention.dto.js';

interface Check {
  readonly title: string;
  /** What a person does about a finding: at its page, or by its call where one press is safe. */
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

/** In the order in which one is the reason of the next ones. */
const KINDS = Object.keys(CHECKS) as AttentionKind[];

export const SEVERITY_TONES = { now: 'bad', soon: 'warn', watch: 'plain' } as const;

/** Findings of one cause: a refused key lets calls and runs fail. */
export interface Problem {
  /** The finding that is the reason of the others. */
  readonly lead: AttentionItem;
  readonly others: readonly AttentionItem[];
  readonly severity: AttentionItem['severity'];
  /** Of the first finding. */
  readonly since: string;
  /** The nearest one. */
  readonly deadline: string | undefined;
}

/** One line a problem, in the order of the findings: by connection and cause, then by hauler. */
export function problemsOf(items: readonly AttentionItem[]): Problem[] {
  const groups = Map.groupBy(items, keyOf).values();
  return [...groups].map((group) => {
    const [first] = group;
    const [lead = first, ...others] = group.toSorted(
      (one, other) => KINDS.indexOf(one.kind) - KINDS.indexOf(other.kind),
    );
    const [deadline] = group.flatMap((each) => each.deadline ?? []).sort();
    const [since = ''] = group.map((each) => each.since).sort();
    return { lead, others, severity: first?.severity, since, deadline } as Problem;
  });
}

/** Refused pushes have a page for each reason; what is about the service itself has none of its own. */
function keyOf({ kind, connection, hauler, subject, page }: AttentionItem): string {
  const { cause } = CHECKS[kind];
  if (kind === 'refused-pushes') return page;
  if (connection !== undefined) return `${connection.id} ${cause ?? kind}`;
  return kind === 'expiring-keys' && hauler !== undefined
    ? `${kind} ${hauler.id}`
    : `${kind} ${subject} ${cause ?? page}`;
}

/** The checks that were made and found nothing. */
export function checksInOrder({ checked, data }: Pick<Attention, 'checked' | 'data'>): CheckedKind[] {
  const found = new Set(data.map(({ kind }) => kind));
  return checked.filter(({ kind, ok }) => ok && !found.has(kind));
}

/** The checks that could not be made. */
export const unknownChecks = ({ checked }: Pick<Attention, 'checked'>): CheckedKind[] =>
  checked.filter(({ ok }) => !ok);
