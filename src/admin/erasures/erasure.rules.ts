import { randomInt } from 'node:crypto';
import type { CreateErasure, Erasure, ErasureCounts } from '../../contracts/admin/erasure.dto.js';
import { formatInstant } from '../../contracts/common/instant.js';
import type { Violation } from '../../contracts/common/violation.js';
import { rangeViolations } from '../../vision/holds/holds.service.js';
import type { AccountTexts } from './account-erasure.repository.js';
import { CONFIRMABLE_MS, type ErasureRow } from './erasures.repository.js';

const NOTHING: ErasureCounts = {
  ...{ accounts: 0, recordings: 0, bytes: 0, exchanges: 0 },
  ...{ answers: 0, tickets: 0, revisions: 0, actions: 0 },
  ...{ deliveries: 0, findings: 0 },
};

export const countsOf = (counts: Partial<ErasureCounts>): ErasureCounts => ({ ...NOTHING, ...counts });

export function sumOf(one: Partial<ErasureCounts>, other: Partial<ErasureCounts>): ErasureCounts {
  const [a, b] = [countsOf(one), countsOf(other)];
  return Object.fromEntries(
    (Object.keys(NOTHING) as (keyof ErasureCounts)[]).map((name) => [name, a[name] + b[name]]),
  ) as unknown as ErasureCounts;
}

/** Without letters and digits that look alike. */
const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

export const newCode = (): string => Array.from({ length: 6 }, () => LETTERS[randomInt(LETTERS.length)]).join('');

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

/** In lower case, as they stand in JSON. Shorter ones would be found everywhere. */
export function mentionsOf(account: AccountTexts): string[] {
  const { id, account_number: number, account_name: name, email, phone } = account;
  return [id, number, name, email, phone]
    .filter((text): text is string => text !== null && text.length >= 4)
    .map((text) => JSON.stringify(text.toLowerCase()).slice(1, -1));
}

export const accountReferences = ({ id, account_name: name }: AccountTexts): string[] => [
  `accountId:${id}`,
  `accountName:${name}`,
];

const NOT_REACHED = [
  'Backups: each has the data of its time until you delete it, and a restore brings it back: erase again after it.',
  'What partners, receivers of webhooks and readers of exports have stored.',
  'The write-ahead log, replicas that lag, and free pages of the database, until PostgreSQL has written over them.',
];

export function toErasureDto(row: ErasureRow): Erasure {
  const { account_id: accountId, connection_id: connectionId, truck_id: truckId, camera_id: cameraId } = row;
  const reason = row.reason ?? (row.status === 'running' ? row.last_error : null);
  return {
    id: row.id,
    haulerId: row.hauler_id,
    kind: accountId === null ? 'footage' : 'account',
    ...(accountId === null ? {} : { accountId }),
    ...(connectionId === null ? {} : { connectionId }),
    ...(truckId === null ? {} : { truckId }),
    ...(cameraId === null ? {} : { cameraId }),
    ...(row.from === null ? {} : { from: formatInstant(row.from) }),
    ...(row.to === null ? {} : { to: formatInstant(row.to) }),
    status: row.status,
    ...(row.status === 'previewed'
      ? { confirmationCode: row.code, expiresAt: formatInstant(new Date(row.created_at.getTime() + CONFIRMABLE_MS)) }
      : {}),
    preview: countsOf(row.preview),
    erased: countsOf(row.erased),
    notReached: NOT_REACHED,
    ...(reason === null ? {} : { reason }),
    createdAt: formatInstant(row.created_at),
    createdBy: row.created_by,
    ...(row.confirmed_at === null ? {} : { confirmedAt: formatInstant(row.confirmed_at) }),
    ...(row.confirmed_by === null ? {} : { confirmedBy: row.confirmed_by }),
    ...(row.finished_at === null ? {} : { finishedAt: formatInstant(row.finished_at) }),
  };
}
