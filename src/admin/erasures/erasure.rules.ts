import { formatInstant, type Instant, parseInstant, strictTime } from '../../contracts/common/instant.js';
import type { FieldChange } from '../../contracts/admin/history.dto.js';
import { isJsonObject } from '../../contracts/common/json.js';
import {
  type CreateErasure,
  type EndsByItself,
  Erasure,
  type ErasureCounts,
} from '../../contracts/admin/erasures.routes.js';
import { present } from '../../contracts/common/present.js';
import type { Violation } from '../../contracts/common/violation.js';
import { KEEPS_VERSIONS } from '../../core/storage/storage.js';
import { rangeViolations } from '../../vision/holds/holds.service.js';
import type { ErasureRow, ErasureTarget } from './erasures.repository.js';

const TRUCKS = /"truckId":("[^"\\]*(?:\\.[^"\\]*)*"|-?[\d.eE+-]+)(?=[,}])/g;

/**
 * Whether a part of a list has the truck as its `truckId`, whole: a text, or a number as some partners send it. The part is JSON as the
 * service writes it, and may be cut.
 */
export const isOfTruck = (raw: string, truckId: string): boolean =>
  [...raw.matchAll(TRUCKS)].some(([, value = '']) => String(JSON.parse(value)) === truckId);

const TIMES = /"(startTime|endTime)":"([^"]*)"/g;

const timeOf = (text: string): Instant | undefined => parseInstant(text) ?? parseInstant(strictTime(text) ?? '');

/**
 * Whether a part that names the truck is of the range. A part is as the partner sent it, with its errors, and may be cut: one
 * without two times that can be read may be of the range, and counts.
 */
export function isOfRange(raw: string, { from, to }: { readonly from: string; readonly to: string }): boolean {
  const times = [...raw.matchAll(TIMES)].map(([, , text = '']) => timeOf(text));
  const known = times.filter((time) => time !== undefined).sort();
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined || known.length < 2 || known.length < times.length) return true;
  return first < to && last > from;
}

/** The strings and signs of a JSON text; numbers, words and white space are between them. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]/g;

const ERASED = '[erased]';

/**
 * The text of a push without the custom fields whose value is one of `values` (in lower case); undefined if it has none. All other
 * bytes stay as they were sent: PostgreSQL cannot read each JSON text that was accepted, such as a number of 1e200000.
 */
export function withoutValues(text: string, values: ReadonlySet<string>): string | undefined {
  const parts: string[] = [];
  let from = 0;
  for (const { start, token } of customFieldsOf(text)) {
    if (!values.has((JSON.parse(token) as string).toLowerCase())) continue;
    parts.push(text.slice(from, start), JSON.stringify(ERASED));
    from = start + token.length;
  }
  return from === 0 ? undefined : parts.join('') + text.slice(from);
}

/** The same of what a push changed, in custom fields before and after it. */
export function changesWithoutValues(json: string, values: ReadonlySet<string>): string | undefined {
  let isErased = false;
  const clean = (value: unknown): unknown => {
    if (typeof value === 'string' && values.has(value.toLowerCase())) {
      isErased = true;
      return ERASED;
    }
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, clean(member)]));
  };
  const { changes, ...more } = JSON.parse(json) as { readonly changes: readonly FieldChange[] };
  const cleaned = changes.map((change) => {
    if (!change.field.startsWith('customFields')) return change;
    return { ...change, before: clean(change.before), after: clean(change.after) };
  });
  return isErased ? JSON.stringify({ changes: cleaned, ...more }) : undefined;
}

interface Value {
  readonly start: number;
  readonly token: string;
}

/** The strings that are values of the member `customFields`, each time it occurs. `text` is valid JSON. */
function* customFieldsOf(text: string): Generator<Value> {
  let depth = 0;
  let isValue = false;
  let isWithin = false;
  let name = '';
  for (const { 0: token, index: start } of text.matchAll(TOKENS)) {
    if (token === '{' || token === '[') {
      depth += 1;
      if (depth === 2) isWithin = isValue && name === 'customFields';
      isValue = false;
    } else if (token === '}' || token === ']') depth -= 1;
    else if (token === ':' || token === ',') isValue = token === ':';
    else if (depth === 1 && !isValue) name = JSON.parse(token) as string;
    else if (depth === 2 && isValue && isWithin) yield { start, token };
  }
}

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
