import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../core/database/database.js';
import { ExchangeHours } from '../../exchanges/exchange-hours.repository.js';
import { ExchangeLog } from '../../exchanges/exchange-log.service.js';
import { failingCalls } from '../../exchanges/failing-calls.repository.js';
import { OutboundSwitch } from '../../core/outbound/outbound-switch.js';
import {
  failedRuns,
  finishedRuns,
  runsOfAbsentLists,
  withoutSimulated,
} from '../../site-sync/sync/run-attention.repository.js';
import { findHeldAtRisk } from '../../vision/holds/held-footage.repository.js';
import { footageAtRisk } from '../../vision/downloads/download.repository.js';
import { lostClips, lostFootage, unreadWindows } from '../../vision/recordings/footage-attention.repository.js';
import { Retention } from '../../vision/retention/retention.job.js';
import { troubledEndpoints } from '../../webhooks/endpoints.repository.js';
import { absentNotice, callNotice, endpointNotice, type Notice, refusalNotice, runNotice } from './attention.rules.js';
import { AttentionService } from './attention.service.js';
import { type Check, HiddenBySettingError } from './checks.js';
import {
  clipsNotice,
  heldNotice,
  lossNotice,
  outboundNotice,
  retentionNotice,
  riskNotice,
  unreadNotice,
} from './footage-attention.rules.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** What the checks of the platform side read. They are added where that side is loaded. */
@Injectable()
export class PlatformSources implements OnModuleInit {
  constructor(
    private readonly attention: AttentionService,
    readonly database: Database,
    readonly log: ExchangeLog,
    readonly hours: ExchangeHours,
    readonly outbound: OutboundSwitch,
    readonly retention: Retention,
  ) {}

  onModuleInit(): void {
    this.attention.add(platformChecks(this));
  }
}

/** The checks over what the platform side stores. */
const platformChecks = ({ database, log, hours, outbound, retention }: PlatformSources): readonly Check[] => [
  { kinds: ['outbound-off'], find: (now) => outboundOff(outbound, now) },
  {
    kinds: ['held-runs', 'quarantined-records'],
    find: async (now) => (await finishedRuns(database)).map((run) => runNotice(run, now)),
  },
  { kinds: ['failing-runs'], find: (now) => failingRuns(database, log, now) },
  { kinds: ['absent-lists'], find: async () => (await runsOfAbsentLists(database)).map(absentNotice) },
  { kinds: ['refused-keys', 'failing-calls'], find: () => callsThatFail(database, log) },
  { kinds: ['held-at-risk'], find: async () => (await findHeldAtRisk(database)).map(heldNotice) },
  {
    kinds: ['retention-stopped'],
    find: () => Promise.resolve(retention.trouble === undefined ? [] : [retentionNotice(retention.trouble)]),
  },
  {
    kinds: ['downloads-at-risk'],
    find: async (now) => (await footageAtRisk(database)).map((row) => riskNotice(row, now)),
  },
  { kinds: ['unread-windows'], find: async () => (await unreadWindows(database)).map(unreadNotice) },
  {
    kinds: ['failed-downloads', 'expired-downloads'],
    find: async (now) => (await lostFootage(database)).map((row) => lossNotice(row, now)),
  },
  { kinds: ['failed-clips'], find: async (now) => (await lostClips(database)).map((row) => clipsNotice(row, now)) },
  { kinds: ['refused-pushes'], find: (now) => refusedPushes(hours, log, now) },
  { kinds: ['failing-webhooks'], find: async () => (await troubledEndpoints(database)).map(endpointNotice) },
];

async function outboundOff(outbound: OutboundSwitch, now: number): Promise<Notice[]> {
  const { reason, isOffByVariable, since = new Date(now) } = await outbound.read();
  return reason === undefined ? [] : [outboundNotice({ reason, isOffByVariable, since })];
}

async function failingRuns(database: Database, log: ExchangeLog, now: number): Promise<Notice[]> {
  const failed = await failedRuns(database);
  if (failed.length === 0) return [];
  await log.flushForReader();
  return (await withoutSimulated(database, failed)).map((run) => runNotice(run, now));
}

/** The last call of each operation decides, so that calls that succeeded have to be in the log too. */
async function callsThatFail(database: Database, log: ExchangeLog): Promise<Notice[]> {
  if (!log.isComplete) throw new HiddenBySettingError('The exchange log does not have every call (EXCHANGE_LOG).');
  await log.flushForReader();
  return (await failingCalls(database)).map(callNotice);
}

async function refusedPushes(hours: ExchangeHours, log: ExchangeLog, now: number): Promise<Notice[]> {
  if (!log.isOn) throw new HiddenBySettingError('The exchange log is off (EXCHANGE_LOG).');
  await log.flushForReader();
  // Hours are counted whole.
  const from = new Date(Math.ceil((now - DAY_MS) / HOUR_MS) * HOUR_MS);
  return (await hours.refusedPushes(from)).map((pushes) => refusalNotice(pushes, from));
}
