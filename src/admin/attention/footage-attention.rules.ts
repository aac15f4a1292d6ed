import { timeOfUuidv7 } from '../../core/database/uuid.js';
import type { AttentionAction } from '../../contracts/admin/attention.dto.js';
import type { RecordingReason } from '../../contracts/admin/recording.dto.js';
import type { LostClipsRow, LostRow, UnreadRow } from '../../vision/recordings/footage-attention.repository.js';
import type { RiskRow } from '../../vision/downloads/download.repository.js';
import type { HeldRiskRow } from '../../vision/holds/held-footage.repository.js';
import { consolePage, counted, number, severityOfLoss, type Notice } from './attention.rules.js';

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
