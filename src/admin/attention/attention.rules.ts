import {
  type AttentionAction,
  type AttentionFacts,
  type AttentionItem,
  type AttentionKind,
  SEVERITIES,
  type Severity,
} from '../../contracts/admin/attention.dto.js';
import type { RefusedPushes } from '../../contracts/admin/overview.dto.js';
import type { OwnAttentionItem, OwnAttentionKind } from '../../contracts/partner/own-attention.dto.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { timeOfUuidv7 } from '../../database/uuid.js';
import type { EndingKey } from '../../auth/api-key.repository.js';
import type { FailingCalls } from '../../exchanges/failing-calls.repository.js';
import { reasonSentence } from '../../exchanges/reasons.rules.js';
import { absentSentence, noticedLists } from '../../site-sync/sync/absent-lists.rules.js';
import type { RunOfAbsentLists, TroubledRun } from '../../site-sync/sync/run-attention.repository.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

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
  };
}

function factsOf({ severity, count, subject, since, deadline, sentence, page }: Notice): AttentionFacts {
  return {
    ...{ severity, count, subject, since: formatInstant(since) },
    ...(deadline == null ? {} : { deadline: formatInstant(deadline) }),
    ...{ sentence, page },
  };
}

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
  if (run.status === 'failed') {
    const isStale = run.stored_at === null || now - run.stored_at.getTime() > DAY_MS;
    const last =
      run.stored_at === null
        ? 'None has succeeded.'
        : `The last one that succeeded ended ${formatInstant(run.stored_at)}.`;
    return {
      ...common,
      kind: 'failing-runs',
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
    since: run.finished_at,
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
  const { interface: name, status, errorCode, reason, count, lastExchangeId } = pushes;
  const subject = [status, reason ?? errorCode].filter((part) => part !== undefined).join(' ');
  const code = reason ?? errorCode ?? `http-${status}`;
  const why = reasonSentence({ direction: 'inbound', reason: code, status });
  return {
    kind: 'refused-pushes',
    severity: status >= 500 ? 'now' : 'soon',
    count,
    subject,
    since: new Date(timeOfUuidv7(lastExchangeId)),
    sentence: `${counted(count, 'push', 'pushes')} of the last day ${count === 1 ? 'was' : 'were'} refused: ${subject}. ${why}`,
    page: consolePage('exchanges', {
      direction: 'inbound',
      interface: name,
      status,
      ...(errorCode === undefined ? {} : { errorCode }),
      reason: code,
      from: from.toISOString(),
    }),
  };
}

const daysOf = (ms: number): string =>
  ms < 2 * DAY_MS ? counted(Math.max(1, Math.round(ms / HOUR_MS)), 'hour') : counted(Math.floor(ms / DAY_MS), 'day');

export function keyNotice(key: EndingKey, now: number): Notice {
  const {
    prefix,
    name,
    hauler_id: haulerId,
    expires_at: deadline,
    has_ended: hasEnded,
    has_successor: hasSuccessor,
  } = key;
  const next = hasSuccessor ? 'Its successor was issued, and is not used yet.' : 'Issue its successor.';
  const left = deadline.getTime() - now;
  const title = name === null ? `${prefix}…` : `${prefix}… (${name})`;
  return {
    kind: 'expiring-keys',
    severity: left < 2 * DAY_MS ? 'now' : left < 7 * DAY_MS ? 'soon' : 'watch',
    count: 1,
    haulerId,
    subject: title,
    since: new Date(Math.min(now, deadline.getTime() - 14 * DAY_MS)),
    deadline,
    sentence: `The key ${title} ${hasEnded ? `was in use, and expired ${daysOf(-left)} ago` : `expires in ${daysOf(left)}`}. ${next}`,
    page: consolePage('keys', haulerId === null ? {} : { haulerId }),
  };
}
