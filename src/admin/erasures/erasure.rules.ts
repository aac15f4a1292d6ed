import {
  type CreateErasure,
  type EndsByItself,
  Erasure,
  type ErasureCounts,
} from '../../contracts/admin/erasure.dto.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { present } from '../../contracts/common/present.js';
import type { Violation } from '../../contracts/common/violation.js';
import { KEEPS_VERSIONS } from '../../core/storage/storage.js';
import { rangeViolations } from '../../vision/holds/holds.service.js';
import type { ErasureRow, ErasureTarget } from './erasures.repository.js';

const NOTHING: ErasureCounts = {
  accounts: 0,
  recordings: 0,
  bytes: 0,
  versionsLeft: 0,
  exchanges: 0,
  tickets: 0,
  revisions: 0,
  findings: 0,
};

const NAMES = Object.keys(NOTHING) as (keyof ErasureCounts)[];

/** With a number for each; those of an earlier version are left out. */
export const countsOf = (counts: Partial<ErasureCounts>): ErasureCounts =>
  Object.fromEntries(NAMES.map((name) => [name, counts[name] ?? 0])) as unknown as ErasureCounts;

export function sumOf(one: Partial<ErasureCounts>, other: Partial<ErasureCounts>): ErasureCounts {
  const [a, b] = [countsOf(one), countsOf(other)];
  return Object.fromEntries(NAMES.map((name) => [name, a[name] + b[name]])) as unknown as ErasureCounts;
}

const FORMS = {
  account: ['haulerId', 'accountId'],
  footage: ['connectionId', 'truckId', 'from', 'to'],
} as const;

/** Exactly one of the two forms, with all its fields. A range of a truck may name the hauler of its connection too. */
export function formViolations(request: CreateErasure): Violation[] {
  const namesFootage = [...FORMS.footage, 'cameraId' as const].filter((name) => request[name] !== undefined);
  const isAccount = request.accountId !== undefined || (request.haulerId !== undefined && namesFootage.length === 0);
  const form = isAccount ? FORMS.account : FORMS.footage;
  const extra = isAccount ? namesFootage : [];
  const absent = form.filter((name) => request[name] === undefined);
  const violations: Violation[] = [
    ...absent.map((path): Violation => ({ path, rule: 'isDefined', message: `${path} is required` })),
    ...extra.map((path): Violation => ({ path, rule: 'isAlone', message: `${path} excludes accountId` })),
  ];
  const { from, to } = request;
  return violations.length > 0 || from === undefined || to === undefined ? violations : rangeViolations(from, to);
}

const NOT_REACHED = [
  'Backups and snapshots: each has the data of its time until you delete it, and a restore brings it back: erase again after it.',
  'What partners, receivers of webhooks and readers of exports have stored.',
  'The write-ahead log, replicas that lag, and free pages of the database, until PostgreSQL has written over them.',
  'The action log, where somebody has typed a name into a filter or a reason.',
];

const notReachedOf = ({ versionsLeft = 0 }: Partial<ErasureCounts>): string[] =>
  versionsLeft === 0
    ? NOT_REACHED
    : [
        `Old versions of ${versionsLeft} deleted ${versionsLeft === 1 ? 'file' : 'files'} remain. ${KEEPS_VERSIONS}`,
        ...NOT_REACHED,
      ];

/** The days for which other records that may name what was erased are kept. */
export interface KeptDays {
  readonly exchanges: number;
  readonly answers: number;
  readonly deliveries: number;
}

const DAY_MS = 86_400_000;

/** What an erasure leaves, because it ends by itself (decision 68). `at`: when the erasure ended, or now. */
function endsByItself(kept: KeptDays, at: Date): EndsByItself[] {
  const until = (days: number) => new Date(at.getTime() + days * DAY_MS).toISOString().slice(0, 10);
  return [
    {
      what: 'The exchange log, where it names the erased in another way than by a reference.',
      until: until(kept.exchanges),
    },
    {
      what: 'Stored answers of the Idempotency-Key: a retried push gets its first answer.',
      until: until(kept.answers),
    },
    { what: 'Webhook deliveries that have ended: they have ids alone.', until: until(kept.deliveries) },
  ];
}

/** Of a dry run: it has no id, because nothing is stored of it. */
export function toPreviewDto(
  target: ErasureTarget,
  counts: Partial<ErasureCounts>,
  by: string,
  kept: KeptDays,
): Erasure {
  const now = new Date();
  return presented(target, {
    status: 'previewed',
    preview: countsOf(counts),
    erased: NOTHING,
    notReached: NOT_REACHED,
    endsByItself: endsByItself(kept, now),
    createdAt: now,
    createdBy: by,
  });
}

export const toErasureDto = (row: ErasureRow, kept: KeptDays): Erasure =>
  presented(row, {
    erased: countsOf(row.erased),
    notReached: notReachedOf(row.erased),
    endsByItself: endsByItself(kept, row.finished_at ?? new Date()),
    reason: row.reason ?? (row.status === 'running' ? row.last_error : null),
  });

const presented = (target: ErasureTarget, decided: object): Erasure =>
  present(Erasure, {
    ...target,
    kind: target.account_id === null ? 'footage' : 'account',
    from: target.from && formatInstant(target.from),
    to: target.to && formatInstant(target.to),
    ...decided,
  });
