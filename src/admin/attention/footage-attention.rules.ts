import type { AttentionAction, AttentionKind } from '../../contracts/admin/attention.routes.js';
import type { PartitionedTable } from '../../core/database/partitions.rules.js';
import { KEEPS_VERSIONS, type StorageHealth } from '../../core/storage/storage.js';
import { consolePage, counted, durationOf, type Notice, number, severityOfLoss } from './attention.rules.js';
import type { Standby, UnreadSlot } from './replication.repository.js';
import { timeOfUuidv7 } from '../../core/database/uuid.js';
import type { RecordingReason } from '../../contracts/admin/recordings.routes.js';
import type { LostClipsRow, LostRow, UnreadRow } from '../../vision/recordings/footage-attention.repository.js';
import type { RiskRow } from '../../vision/downloads/download.repository.js';
import type { HeldRiskRow } from '../../vision/holds/held-footage.repository.js';

/** An instance with a free place starts due work within seconds. */
const MAX_WORK_WAIT_SECONDS = 15 * 60;
const LONG_WORK_WAIT_SECONDS = 3_600;
const MAX_LAG_SECONDS = 60;
/** Partners' links and our own expire by these clocks. */
const MAX_CLOCK_DIFFERENCE_MS = 2_000;

/** About the service itself, or what it stands on. */
function notice(
  kind: AttentionKind,
  subject: string,
  now: number,
  sentence: string,
  more: Partial<Notice> = {},
): Notice {
  return {
    kind,
    severity: 'now',
    count: 1,
    subject,
    since: new Date(now),
    sentence,
    page: consolePage('', {}),
    ...more,
  };
}

export const databaseNotice = (reason: string, now: number): Notice =>
  notice('database-trouble', 'database', now, `This instance cannot serve requests: ${reason}.`);

export function storageNotices({ keepsVersions, writable, reason }: StorageHealth, now: number): Notice[] {
  // What retention and erasures have deleted is still in the bucket.
  const kept = notice('kept-versions', 'video storage', now, KEEPS_VERSIONS, {
    severity: 'watch',
    page: consolePage('retention', {}),
  });
  if (keepsVersions === true) return [kept];
  if (writable) return [];
  const sentence = `The video storage takes no files. ${reason ?? 'It does not say why.'}`;
  return [notice('storage-trouble', 'video storage', now, sentence)];
}

const PAGES = { exchanges: 'exchanges', ticket_revisions: 'tickets', recordings: 'recordings' } as const;

export function partitionNotice(table: PartitionedTable & { readonly name: keyof typeof PAGES }, now: number): Notice {
  const { name, unit, rest } = table;
  const consequence =
    rest === undefined
      ? `The first row of the ${unit} has to wait for one.`
      : `Without one its rows are stored in ${rest}, and move later.`;
  const sentence = `${name} has no partition for the next ${unit}: the service creates them each hour, and could not. ${consequence} The log of the service has the reason.`;
  return notice('missing-partitions', name, now, sentence, { severity: 'soon', page: consolePage(PAGES[name], {}) });
}

/** A standby that is not named synchronous may be away. `synchronous` is the setting of the server. */
export function replicationNotices(standbys: readonly Standby[], synchronous: string, now: number): Notice[] {
  const isSynchronous = standbys.some(({ sync_state: state }) => state === 'sync' || state === 'quorum');
  if (synchronous !== '' && !isSynchronous) {
    const sentence = `No synchronous standby of (${synchronous}) is connected, so that commits wait: start it.`;
    return [notice('replication', 'synchronous standby', now, sentence)];
  }
  return standbys.flatMap(({ name, state, lag_seconds: lag }) => {
    if (state === 'streaming' && lag <= MAX_LAG_SECONDS) return [];
    const sentence = `The standby ${name} is ${state ?? 'not visible'}, ${durationOf(lag * 1_000)} behind the primary. Its log has the reason.`;
    return [notice('replication', name, now, sentence, { severity: 'soon' })];
  });
}

/** A full disk stops PostgreSQL, so that it is said before. */
export function slotNotice({ name, kept_bytes: bytes }: UnreadSlot, now: number): Notice {
  const kept = `${Math.ceil(bytes / 1024 ** 2).toLocaleString('en-US')} MB`;
  const sentence = `Nothing reads the replication slot ${name}, and PostgreSQL keeps all write-ahead log since then, ${kept} so far, until its disk is full. Start the standby of the slot, or drop it with pg_drop_replication_slot.`;
  return notice('replication', `replication slot ${name}`, now, sentence, { severity: 'soon' });
}

/** The clock of the database was read between two readings of ours. All in milliseconds. */
export function clockNotices(before: number, database: number, after: number): Notice[] {
  const difference = (before + after) / 2 - database;
  // The answer may have been made at any time between the two.
  if (Math.abs(difference) - (after - before) / 2 <= MAX_CLOCK_DIFFERENCE_MS) return [];
  const text = `${Math.abs(difference / 1_000).toFixed(1)} s ${difference < 0 ? 'behind' : 'ahead of'}`;
  const sentence = `The clock of this instance is ${text} the clock of the database, and links expire by both. Set them by NTP.`;
  return [notice('clock', 'clock', after, sentence, { severity: 'soon' })];
}

/** `seconds`: how long the oldest due row of a kind of work has waited for an instance. */
export function lateNotices(kind: string, seconds: number, now: number): Notice[] {
  if (seconds <= MAX_WORK_WAIT_SECONDS) return [];
  const waited = durationOf(seconds * 1_000);
  const sentence = `Due work has waited for ${waited}: ${kind}. Too few instances run, or their log has the reason.`;
  const severity = seconds > LONG_WORK_WAIT_SECONDS ? 'now' : 'soon';
  return [notice('late-work', kind, now, sentence, { severity, since: new Date(now - seconds * 1_000) })];
}

/** Of one instance: what is lost is in no table. */
export function lostExchangesNotice(losses: {
  readonly count: number;
  readonly reasons: readonly string[];
  readonly since: Date;
}): Notice {
  const { count, reasons, since } = losses;
  const sentence = `${counted(count, 'exchange')} could not be stored by this instance: ${reasons.join(', ')}.`;
  const page = consolePage('exchanges', {});
  return notice('lost-exchanges', 'exchange log', since.getTime(), sentence, { severity: 'watch', count, page });
}

export function outboundNotice(off: {
  readonly reason: string;
  readonly isOffByVariable: boolean;
  readonly since: Date;
}): Notice {
  const { reason, isOffByVariable, since } = off;
  const sentence = isOffByVariable
    ? 'This is a copy, with OUTBOUND=off: no partner is called, no file is fetched and no webhook is sent. If it replaces the original, start it without OUTBOUND=off.'
    : `No partner is called and no file is fetched: ${reason}. Switch the calls on with PUT /admin/v1/outbound or cli outbound set.`;
  const page = consolePage('connections', {});
  return notice('outbound-off', 'calls to partners', since.getTime(), sentence, { page });
}

export function retentionNotice({ message, since }: { readonly message: string; readonly since: Date }): Notice {
  const sentence = `Stored video is not deleted by age: ${message.replace(/\.$/, '')}. Nothing that a hold keeps was deleted; the next run follows within an hour.`;
  const page = consolePage('recordings', {});
  return notice('retention-stopped', 'video retention', since.getTime(), sentence, { severity: 'soon', page });
}

const HOUR_MS = 3_600_000;

const truckOf = (row: { hauler_id: string; connection_id: string; truck_id: string; count: number }) =>
  ({
    haulerId: row.hauler_id,
    connection: { id: row.connection_id, interface: 'vision' },
    subject: row.truck_id,
    count: row.count,
  }) as const;

const coveragePage = (row: { connection_id: string; truck_id: string }, from: Date, to: Date): string =>
  consolePage('coverage', {
    connectionId: row.connection_id,
    truckId: row.truck_id,
    from: from.toISOString(),
    to: to.toISOString(),
  });

const fetching = (title: string, connectionId: string, truckId: string): AttentionAction => ({
  title,
  method: 'POST',
  path: '/recordings/retry',
  body: { connectionId, truckId },
});

const dayOf = (instant: Date): string => instant.toISOString().slice(0, 10);

export function riskNotice(row: RiskRow, now: number): Notice {
  const { count, failing, truck_id: truckId, connection_id: connectionId, deadline, since } = row;
  const parts = [
    ...(failing > 0 ? [`${number(failing)} failed so far and ${failing === 1 ? 'is' : 'are'} tried again`] : []),
    ...(deadline === null ? [] : ['a link expires within an hour']),
  ];
  return {
    ...truckOf(row),
    kind: 'downloads-at-risk',
    severity: deadline !== null && deadline.getTime() - now < HOUR_MS / 6 ? 'now' : 'soon',
    since,
    deadline,
    sentence: `${counted(count, 'download')} of ${truckId} may be lost: ${parts.join('; ')}.`,
    page: consolePage('recordings', { status: 'available', connectionId, truckId }),
    action: fetching('Fetch its recordings now', connectionId, truckId),
    state: { topic: 'recording.at_risk', about: `${connectionId}:${truckId}`, data: { connectionId, truckId } },
  };
}

export function heldNotice(row: HeldRiskRow): Notice {
  const { count, lost, cases, deadline, since, truck_id: truckId, connection_id: connectionId } = row;
  const ended = lost === 0 ? '' : ` ${number(lost)} of them ended without a file.`;
  return {
    ...truckOf(row),
    kind: 'held-at-risk',
    severity: 'now',
    since,
    deadline,
    sentence: `${counted(count, 'recording')} of ${truckId} that a hold needs (${cases.slice(0, 5).join(', ')}) ${count === 1 ? 'is' : 'are'} not stored, and may be lost at the partner.${ended}`,
    page: consolePage('recordings', { connectionId, truckId }),
    action: fetching('Fetch its recordings now', connectionId, truckId),
  };
}

const REASONS: Readonly<Record<RecordingReason, string>> = {
  notListed: 'no longer listed by the partner',
  linkRefused: 'link refused',
  unreachable: 'host not reached',
  invalidFile: 'no whole MP4',
  addressRefused: 'address that may not be called',
  tooLarge: 'file too large',
  interrupted: 'interrupted at each try',
};
const isReason = (reason: string): reason is RecordingReason => reason in REASONS;

const OUTCOMES = { failed: 'failed', expired: 'expired before they were stored' } as const;

export function lossNotice(row: LostRow, now: number): Notice {
  const { count, status, reasons, truck_id: truckId, connection_id: connectionId } = row;
  const named = Object.entries(reasons)
    .sort(([, one], [, other]) => other - one)
    .map(([reason, many]) => `${number(many)} ${isReason(reason) ? REASONS[reason] : 'without a reason'}`);
  return {
    ...truckOf(row),
    kind: status === 'failed' ? 'failed-downloads' : 'expired-downloads',
    severity: severityOfLoss(row.last_at, now),
    since: row.since,
    sentence: `${counted(count, 'recording')} of ${truckId} ${OUTCOMES[status]}: ${named.join(', ')}.`,
    page: consolePage('recordings', { status, connectionId, truckId }),
    action: fetching('Fetch its recordings again', connectionId, truckId),
  };
}

export function unreadNotice(row: UnreadRow): Notice {
  const { count, truck_id: truckId, given_up: givenUp, start_time: start, end_time: end } = row;
  const hours = Math.max(0.1, Math.round(row.seconds / 360) / 10);
  const last =
    givenUp > 0
      ? `${number(givenUp)} of them ${givenUp === 1 ? 'is' : 'are'} not tried again.`
      : 'They are tried again.';
  return {
    ...truckOf(row),
    kind: 'unread-windows',
    severity: givenUp > 0 ? 'now' : 'soon',
    since: new Date(timeOfUuidv7(row.first_id)),
    sentence: `The lists of ${truckId} could not be read for ${counted(count, 'window')}, ${hours} hours between ${dayOf(start)} and ${dayOf(end)}. ${last}`,
    page: coveragePage(row, start, end),
  };
}

export function clipsNotice(row: LostClipsRow, now: number): Notice {
  const { count, truck_id: truckId, connection_id: connectionId, reason, start_time: start, end_time: end } = row;
  const last = reason === null ? '' : `${count === 1 ? ' ' : ' The last one: '}${reason.replace(/[.!?]?$/, '.')}`;
  return {
    ...truckOf(row),
    kind: 'failed-clips',
    severity: severityOfLoss(row.last_at, now),
    since: row.since,
    sentence: `${counted(count, 'clip request')} of ${truckId} ended without a file.${last}`,
    page: count === 1 ? coveragePage(row, start, end) : consolePage('clips', { connectionId, truckId }),
  };
}
