import {
  type AttentionAction,
  type AttentionFacts,
  type AttentionItem,
  type AttentionKind,
  SEVERITIES,
  type Severity,
} from '../../contracts/admin/attention.routes.js';
import { DELIVERY_REASONS } from '../../contracts/webhooks/delivery.values.js';
import type { EventData, TopicName } from '../../contracts/webhooks/topics.values.js';
import type { RefusedPushes } from '../../contracts/admin/overview.dto.js';
import type { OwnAttentionItem, OwnAttentionKind } from '../../contracts/partner/partner.api.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { timeOfUuidv7 } from '../../core/database/uuid.js';
import type { EndingKey } from '../../auth/api-key.repository.js';
import type { FailingCalls } from '../../exchanges/failing-calls.repository.js';
import { reasonSentence } from '../../exchanges/explanation.rules.js';
import { absentSentence, noticedLists } from '../../site-sync/sync/absent-lists.rules.js';
import type { RunOfAbsentLists, TroubledRun } from '../../site-sync/sync/run-attention.repository.js';
import type { TroubledEndpoint } from '../../webhooks/endpoints.repository.js';
import { CHECKS, problemOf } from './problems.rules.js';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** What webhooks announce of a notice. */
export interface NoticeState {
  readonly topic: TopicName;
  /** What it is about: a connection, a truck of one, or a key. There it has one state at a time. */
  readonly about: string;
  readonly data: EventData;
  /** Of a key, the first one of its rotations. */
  readonly firstKeyId?: string;
}

/** An item before its hauler has a name. */
export interface Notice {
  readonly kind: AttentionKind;
  readonly severity: Severity;
  readonly count: number;
  readonly haulerId?: string | null;
  readonly connection?: { readonly id: string; readonly interface: 'site' | 'vision' };
  readonly subject: string;
  readonly since: Date;
  readonly deadline?: Date | null;
  readonly sentence: string;
  /** For the partner of the connection, where `sentence` addresses an admin. */
  readonly partnerSentence?: string;
  readonly page: string;
  readonly action?: AttentionAction;
  /** Absent: it is listed, and not announced. */
  readonly state?: NoticeState;
}

/** The most urgent first: by severity, then the nearest deadline, then the latest begin. */
export function ranked(notices: readonly Notice[]): Notice[] {
  const rank = ({ severity }: Notice) => SEVERITIES.indexOf(severity);
  const end = ({ deadline }: Notice) => deadline?.getTime() ?? Number.POSITIVE_INFINITY;
  return notices.toSorted((one, other) => {
    if (rank(one) !== rank(other)) return rank(one) - rank(other);
    if (end(one) !== end(other)) return end(one) - end(other);
    return other.since.getTime() - one.since.getTime();
  });
}

export function toItem(notice: Notice, names: ReadonlyMap<string, string>): AttentionItem {
  const { haulerId, connection, action } = notice;
  const name = names.get(haulerId ?? '');
  return {
    kind: notice.kind,
    ...factsOf(notice),
    ...(haulerId == null || name === undefined ? {} : { hauler: { id: haulerId, name } }),
    ...(connection === undefined ? {} : { connection }),
    ...(action === undefined ? {} : { action }),
    act: CHECKS[notice.kind].act,
  };
}

function factsOf(notice: Notice): AttentionFacts {
  const { kind, severity, count, subject, since, deadline, sentence, page } = notice;
  return {
    severity,
    count,
    subject,
    since: formatInstant(since),
    ...(deadline == null ? {} : { deadline: formatInstant(deadline) }),
    sentence,
    page,
    title: CHECKS[kind].title,
    problem: problemOf(notice),
  };
}

/** Their row or reading knows only that it is so now. */
const WITHOUT_BEGIN: readonly AttentionKind[] = [
  'database-trouble',
  'replication',
  'clock',
  'missing-partitions',
  'storage-trouble',
  'kept-versions',
];

/** Since when a notice was seen without a break, by its kind and what it is about. */
export type Begins = ReadonlyMap<string, Pick<Notice, 'kind' | 'since'>>;

/** The notices that last, since the first look that saw them; those of kinds that could not be checked may last. */
export function beginsOf(before: Begins, notices: readonly Notice[], checked: ReadonlySet<AttentionKind>): Begins {
  const unknown = [...before].filter(([, { kind }]) => !checked.has(kind));
  const lasting = notices
    .filter(({ kind }) => WITHOUT_BEGIN.includes(kind))
    .map((notice) => [keyOf(notice), before.get(keyOf(notice)) ?? notice] as const);
  return new Map([...unknown, ...lasting]);
}

export const sinceBegin = (begins: Begins, notice: Notice): Notice => ({
  ...notice,
  since: begins.get(keyOf(notice))?.since ?? notice.since,
});

const keyOf = ({ kind, connection, subject }: Notice): string => `${kind} ${connection?.id ?? ''} ${subject}`;

/** Of these the console has no page for a partner. */
const WITHOUT_PAGE: readonly OwnAttentionKind[] = ['refused-keys', 'unread-windows', 'failed-clips'];

/** What the partner of a connection sees of these notices. */
export function ownItems(
  notices: readonly Notice[],
  connectionId: string,
  kinds: readonly OwnAttentionKind[],
): OwnAttentionItem[] {
  return notices.flatMap((notice) => {
    const kind = kinds.find((each) => each === notice.kind);
    if (kind === undefined || notice.connection?.id !== connectionId) return [];
    const { partnerSentence: sentence = notice.sentence } = notice;
    const page = WITHOUT_PAGE.includes(kind) ? consolePage('', {}) : notice.page;
    return { kind, ...factsOf({ ...notice, sentence, page }) };
  });
}

/** The address of a console page. */
export function consolePage(page: string, query: Readonly<Record<string, string | number>>): string {
  const text = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();
  return `/console/${page}${text === '' ? '' : `?${text}`}`;
}

export const number = (count: number): string => count.toLocaleString('en-US');
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${number(count)} ${count === 1 ? one : many}`;

/** Something that ended: it stays listed, with less urgency after a day. */
export const severityOfLoss = (lastAt: Date, now: number): Severity =>
  now - lastAt.getTime() < DAY_MS ? 'soon' : 'watch';

export function runNotice(run: TroubledRun, now: number): Notice {
  const { hauler_id: haulerId, connection_id: id, counts, guard, error } = run;
  const common = {
    haulerId,
    connection: { id, interface: 'site' },
    subject: 'synchronisation',
    page: consolePage('sync', { run: run.run_id, connectionId: id }),
  } as const;
  const data = { connectionId: id, syncRunId: run.run_id };
  if (run.status === 'failed') {
    const isStale = run.stored_at === null || now - run.stored_at.getTime() > DAY_MS;
    const last =
      run.stored_at === null
        ? 'None has succeeded.'
        : `The last one that succeeded ended ${formatInstant(run.stored_at)}.`;
    return {
      ...common,
      kind: 'failing-runs',
      state: { topic: 'sync.failed', about: id, data },
      severity: isStale ? 'now' : 'soon',
      count: run.failures,
      since: run.failing_since ?? run.finished_at,
      sentence: `${counted(run.failures, 'synchronisation')} in a row failed. ${last} ${error ?? ''}`.trim(),
      action: { title: 'Synchronise its sites now', method: 'POST', path: `/connections/${id}/sync` },
    };
  }
  const sum = (name: 'quarantined' | 'held' | 'received') => {
    const { sites, kiosks, materials } = counts;
    return sites[name] + kiosks[name] + materials[name];
  };
  if (run.status === 'held') {
    const parts = (guard ?? []).map(({ kind, removed, of }) => `${number(removed)} of ${number(of)} ${kind}`);
    const held = `The removal of ${parts.join(' and of ')} waits for`;
    return {
      ...common,
      kind: 'held-runs',
      state: { topic: 'sync.held', about: id, data },
      severity: 'now',
      count: Math.max(1, sum('held')),
      since: run.finished_at,
      sentence: `${held} your decision. Until then they stay active.`,
      partnerSentence: `${held} the decision of an admin of the platform. Until then they stay active.`,
    };
  }
  const quarantined = sum('quarantined');
  return {
    ...common,
    kind: 'quarantined-records',
    severity: 'soon',
    count: quarantined,
    since: run.quarantined_since ?? run.finished_at,
    sentence: `${number(quarantined)} of ${counted(sum('received'), 'record')} could not be stored as sent.`,
  };
}

/** Records stay as they are while their list is absent, so nobody would see that they are no longer updated. */
export function absentNotice(run: RunOfAbsentLists): Notice {
  const lists = noticedLists(run.absent_lists);
  return {
    kind: 'absent-lists',
    severity: 'soon',
    count: lists.reduce((total, [, { records }]) => total + records, 0),
    haulerId: run.hauler_id,
    connection: { id: run.connection_id, interface: 'site' },
    subject: lists.map(([kind]) => kind).join(', '),
    since: new Date(Math.min(...lists.map(([, { since }]) => Date.parse(since)))),
    sentence: lists.map(([kind, list]) => absentSentence(kind, list)).join(' '),
    page: consolePage('sync', { run: run.run_id, connectionId: run.connection_id }),
  };
}

export function callNotice(calls: FailingCalls): Notice {
  const { hauler_id: haulerId, connection_id: id, route, status, failure, count } = calls;
  const common = {
    count,
    haulerId,
    connection: { id, interface: calls.interface },
    subject: route,
    since: new Date(timeOfUuidv7(calls.first_id)),
    action: { title: 'Check this partner now', method: 'POST', path: `/connections/${id}/check` },
  } as const;
  const last = consolePage('exchanges', { id: calls.last_id });
  if (status === 401) {
    const refused = `(401), at ${counted(count, 'call')} of ${route} in a row.`;
    return {
      ...common,
      kind: 'refused-keys',
      state: { topic: 'connection.refused', about: id, data: { connectionId: id } },
      severity: 'now',
      sentence: `The partner refuses our key ${refused} Give the connection a new key.`,
      partnerSentence: `You refuse the key of the platform ${refused} It needs a new key from you.`,
      page: consolePage('connections', { id }),
    };
  }
  const outcome = status === 0 || failure !== null ? (failure ?? 'no response') : `status ${status}`;
  const sentence = `The last ${counted(count, 'call')} of ${route} failed: ${outcome}.`;
  return { ...common, kind: 'failing-calls', severity: 'soon', sentence, page: last };
}

/** `from`: the begin of what was counted. */
export function refusalNotice(pushes: RefusedPushes, from: Date): Notice {
  const { interface: name, status, errorCode, reason, count, haulerId, firstAt } = pushes;
  const subject = [status, reason ?? errorCode].filter((part) => part !== undefined).join(' ');
  const code = reason ?? errorCode ?? `http-${status}`;
  const why = reasonSentence({ direction: 'inbound', reason: code, status });
  return {
    kind: 'refused-pushes',
    severity: status >= 500 ? 'now' : 'soon',
    count,
    haulerId: haulerId ?? null,
    subject,
    since: new Date(firstAt),
    sentence: `${counted(count, 'push', 'pushes')} of the last day ${count === 1 ? 'was' : 'were'} refused: ${subject}. ${why}`,
    page: consolePage('exchanges', {
      direction: 'inbound',
      interface: name,
      ...(haulerId === undefined ? {} : { haulerId }),
      rehearsed: 'false',
      status,
      ...(errorCode === undefined ? {} : { errorCode }),
      reason: code,
      from: from.toISOString(),
    }),
  };
}

/** In the largest unit of which there are at least two. */
export function durationOf(ms: number): string {
  if (ms >= 2 * DAY_MS) return counted(Math.floor(ms / DAY_MS), 'day');
  if (ms >= 2 * HOUR_MS) return counted(Math.round(ms / HOUR_MS), 'hour');
  if (ms >= 2 * MINUTE_MS) return counted(Math.round(ms / MINUTE_MS), 'minute');
  return counted(Math.round(ms / SECOND_MS), 'second');
}

export function keyNotice(key: EndingKey, now: number): Notice {
  const { id, prefix, name, hauler_id: haulerId, expires_at: deadline, has_ended: hasEnded } = key;
  const left = deadline.getTime() - now;
  const title = name === null ? `${prefix}…` : `${prefix}… (${name})`;
  const isUrgent = left < 2 * DAY_MS && (!hasEnded || key.was_in_use);
  return {
    kind: 'expiring-keys',
    severity: isUrgent ? 'now' : left < 7 * DAY_MS && !hasEnded ? 'soon' : 'watch',
    count: 1,
    haulerId,
    subject: title,
    since: new Date(Math.min(now, deadline.getTime() - 14 * DAY_MS)),
    deadline,
    sentence: `The key ${title} ${endOf(key, left)}. ${nextStepOf(key)}`,
    page: consolePage('keys', haulerId === null ? {} : { haulerId }),
    state: {
      topic: hasEnded ? 'key.expired' : 'key.expiring',
      about: id,
      data: { keyId: id, prefix, expiresAt: formatInstant(deadline) },
      firstKeyId: key.first_id,
    },
  };
}

function endOf({ has_ended: hasEnded, was_in_use: wasInUse }: EndingKey, left: number): string {
  if (!hasEnded) return `expires in ${durationOf(left)}`;
  return wasInUse
    ? `was in use, and expired ${durationOf(-left)} ago`
    : `expired ${durationOf(-left)} ago, and was not in use`;
}

function nextStepOf({ has_successor: hasSuccessor, has_ended: hasEnded, was_in_use: wasInUse }: EndingKey): string {
  if (hasSuccessor) return 'Its successor was issued, and is not used yet.';
  return hasEnded && !wasInUse ? 'Issue its successor, or revoke it.' : 'Issue its successor.';
}

const WHY_DISABLED = { gone: 'its receiver answered 410', failing: 'its receiver failed for five days' } as const;

export function endpointNotice(endpoint: TroubledEndpoint): Notice {
  const { id, hauler_id: haulerId, disabled_reason: reason, failing_since: failing, waiting } = endpoint;
  const cause = endpoint.reason === null ? '' : ` ${DELIVERY_REASONS[endpoint.reason]}`;
  const since = failing ?? endpoint.updated_at;
  const undelivered = `${counted(waiting, 'delivery', 'deliveries')} did not arrive.`;
  const sentence =
    reason === 'gone' || reason === 'failing'
      ? `The webhook endpoint ${id} was disabled: ${WHY_DISABLED[reason]}. ${undelivered}${cause} Enable it when the receiver works.`
      : `The webhook endpoint ${id} has failed since ${formatInstant(since)}. ${undelivered}${cause}`;
  return {
    kind: 'failing-webhooks',
    severity: reason === null ? 'soon' : 'now',
    count: Math.max(1, waiting),
    haulerId,
    subject: `endpoint ${id}`,
    since,
    sentence,
    page: consolePage('webhooks', { endpoint: id }),
  };
}
