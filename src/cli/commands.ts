import { type Attention, type CheckedKind, SEVERITIES } from '../contracts/admin/attention.routes.js';
import { visibleText } from '../core/text/visible-text.js';
import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { AdminCall, AdminClient } from './admin-client.js';
import { CommandError, FAILURE, USAGE } from './command-error.js';
import type { Streams } from './output.js';
import type { AdminRouteName } from '../contracts/admin/admin.api.js';

type Item = Attention['data'][number];

const WIDTH = Math.max(...SEVERITIES.map(({ length }) => length));

/** One line each: what needs attention, the most urgent first, and what is not known. */
export function renderAttention({ data, total, checked }: Attention): string {
  const unknown = checked.filter(({ ok }) => !ok);
  const made = `${checked.length - unknown.length} checks were made`;
  return [
    ...data.map((item) => `${item.severity.padEnd(WIDTH)}  ${item.kind}  ${visibleText(sentenceOf(item))}`),
    ...(total > data.length ? [`and ${total - data.length} of lower rank`] : []),
    ...unknown.map(({ kind, reason = '' }) => `${'?'.padEnd(WIDTH)}  ${kind}  not known: ${visibleText(reason)}`),
    total === 0 ? `${made}, and nothing needs attention` : `${made}`,
  ]
    .map((line) => `${line}\n`)
    .join('');
}

const sentenceOf = ({ hauler, subject, sentence }: Item): string =>
  hauler === undefined ? `${subject}: ${sentence}` : `${hauler.name}, ${subject}: ${sentence}`;

/**
 * Why `doctor` ends with 1. What is over or far off (`watch`) is no reason, and neither is a check that a setting of the
 * operator rules out: it would be one for ever.
 */
export function failureOf({ data, checked }: Attention): string | undefined {
  const wrong = namesOf(data.filter(({ severity }) => severity !== 'watch'));
  const unknown = namesOf(checked.filter(({ ok, bySetting }) => !ok && bySetting !== true));
  const parts = [
    ...(wrong.length > 0 ? [`to be put right: ${wrong.join(', ')}`] : []),
    ...(unknown.length > 0 ? [`could not be checked: ${unknown.join(', ')}`] : []),
  ];
  return parts.length === 0 ? undefined : parts.join('; ');
}

const namesOf = (all: readonly Pick<CheckedKind, 'kind'>[]): string[] => [...new Set(all.map(({ kind }) => kind))];

export const BUNDLE_FILE = ['--to <file>', 'file for the archive; it must not exist'] as const;

/** Stores the bundle of a hold. The file has its name only when it is whole. */
export async function storeBundle(client: AdminClient, call: AdminCall, { out }: Streams): Promise<void> {
  const { to: file = '', ...query } = call.query ?? {};
  const isNew = await stat(file).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  );
  if (file === '' || !isNew) throw new CommandError(`--to must be a new file: ${file}`, USAGE);
  const response = await client.bytes('getHoldBundle', { ...call, query });
  const part = `${file}.part`;
  try {
    await pipeline(response, createWriteStream(part));
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CommandError(`the archive was cut off, and nothing was stored (${code ?? message})`, FAILURE);
  }
  out(`stored ${file}\n`);
}

interface CommandGroup {
  readonly description: string;
  /** Each command of the group, and the route that it calls. */
  readonly commands: Readonly<Record<string, AdminRouteName>>;
}

/** The command line, by the names of its groups. Arguments, options and help follow from the route. */
export const COMMAND_GROUPS: Readonly<Record<string, CommandGroup>> = {
  hauler: {
    description: 'tenants of the platform',
    commands: {
      create: 'createHauler',
      list: 'listHaulers',
      show: 'getHauler',
      'set-ticket-footage': 'setTicketFootage',
      'show-ticket-footage': 'getTicketFootageSetting',
      'delete-ticket-footage': 'deleteTicketFootageSetting',
    },
  },
  key: {
    description: 'API keys that this service issues; a new key is shown once',
    commands: {
      issue: 'issueApiKey',
      list: 'listApiKeys',
      show: 'getApiKey',
      rotate: 'rotateApiKey',
      revoke: 'revokeApiKey',
    },
  },
  ticket: {
    description: 'disposal tickets that partners pushed',
    commands: {
      list: 'listTickets',
      show: 'getTicket',
      revisions: 'listTicketRevisions',
      history: 'listTicketHistory',
      footage: 'getTicketFootage',
      'request-footage': 'requestTicketFootage',
    },
  },
  account: {
    description: 'customer accounts that partners created',
    commands: { list: 'listAccounts', show: 'getAccount', history: 'listAccountHistory', import: 'importAccounts' },
  },
  report: { description: 'sums over tickets', commands: { tonnage: 'getTonnage' } },
  connection: {
    description: "links of haulers to partners' interfaces",
    commands: {
      add: 'createConnection',
      list: 'listConnections',
      show: 'getConnection',
      change: 'updateConnection',
      check: 'checkConnection',
      sync: 'syncConnection',
      remove: 'deleteConnection',
    },
  },
  'sync-run': {
    description: 'synchronisation runs of site connections',
    commands: {
      list: 'listSyncRuns',
      show: 'getSyncRun',
      history: 'listSyncRunHistory',
      quarantine: 'listQuarantinedRecords',
      changes: 'listSyncRunChanges',
      tree: 'listSyncRunTree',
      confirm: 'confirmSyncRun',
      reject: 'rejectSyncRun',
    },
  },
  site: { description: 'disposal sites of haulers', commands: { list: 'listSites' } },
  kiosk: { description: 'stations within sites', commands: { list: 'listKiosks' } },
  material: { description: 'materials of sites and kiosks', commands: { list: 'listMaterials' } },
  'video-request': {
    description: 'requests for on-demand clips',
    commands: {
      create: 'createVideoRequest',
      list: 'listVideoRequests',
      show: 'getVideoRequest',
      history: 'listVideoRequestHistory',
      retry: 'retryVideoRequest',
    },
  },
  'video-subscription': {
    description: 'subscriptions to the continuous recordings of trucks',
    commands: {
      create: 'createVideoSubscription',
      list: 'listVideoSubscriptions',
      show: 'getVideoSubscription',
      change: 'updateVideoSubscription',
      'read-again': 'readVideoSubscriptionAgain',
      end: 'deleteVideoSubscription',
    },
  },
  recording: {
    description: 'video from partners; import for the partner side',
    commands: {
      list: 'listRecordings',
      show: 'getRecording',
      retry: 'retryRecording',
      'retry-all': 'retryRecordings',
      tickets: 'listRecordedTickets',
      import: 'uploadHostedRecording',
    },
  },
  share: {
    description: 'links by which people without an account see a recording',
    commands: {
      create: 'createRecordingShare',
      'list-of': 'listRecordingShares',
      list: 'listShares',
      revoke: 'revokeShare',
    },
  },
  coverage: {
    description: 'stored and missing video over time',
    commands: { show: 'getCoverage', summary: 'getCoverageSummary', fleet: 'listFleetCoverage' },
  },
  'vision-finding': { description: "errors in partners' video lists", commands: { list: 'listVisionFindings' } },
  sandbox: {
    description: 'simulated faults, and the clock of the reference partner',
    commands: {
      scenarios: 'listSandboxScenarios',
      list: 'listRunningScenarios',
      active: 'listActiveScenarios',
      start: 'startScenario',
      end: 'endScenario',
      clock: 'advanceClock',
    },
  },
  exchange: {
    description: 'HTTP exchanges in both directions',
    commands: { list: 'listExchanges', reasons: 'countExchangeReasons', counts: 'countExchanges', show: 'getExchange' },
  },
  webhook: {
    description: 'endpoints that get signed messages, notes in Slack or e-mails; a new secret is shown once',
    commands: {
      create: 'createWebhookEndpoint',
      list: 'listWebhookEndpoints',
      show: 'getWebhookEndpoint',
      change: 'updateWebhookEndpoint',
      test: 'testWebhookEndpoint',
      'rotate-secret': 'rotateWebhookSecret',
      remove: 'deleteWebhookEndpoint',
    },
  },
  'webhook-delivery': {
    description: 'what was delivered to webhook endpoints',
    commands: {
      list: 'listWebhookDeliveries',
      show: 'getWebhookDelivery',
      retry: 'retryWebhookDelivery',
      'retry-all': 'retryWebhookDeliveries',
    },
  },
  attention: { description: 'what needs attention, the most urgent first', commands: { list: 'getAttention' } },
  search: { description: 'one look for all that has a number, a name or an id', commands: { for: 'search' } },
  overview: {
    description: 'the last 24 hours and 14 days in numbers',
    commands: { show: 'getOverview', days: 'getOverviewDays' },
  },
  storage: { description: 'stored video files', commands: { check: 'checkStorage', repair: 'repairStorage' } },
  action: { description: 'changes by admins and partners', commands: { list: 'listActions', actors: 'listActors' } },
  session: {
    description: 'people and tokens that are signed in to the console',
    commands: { list: 'listSessions', end: 'endSession' },
  },
  outbound: {
    description: 'the switch of all calls to partners',
    commands: { show: 'getOutbound', set: 'setOutbound' },
  },
  hold: {
    description: 'footage that a case needs',
    commands: {
      create: 'createHold',
      list: 'listHolds',
      show: 'getHold',
      release: 'releaseHold',
      bundle: 'getHoldBundle',
    },
  },
  erasure: {
    description: 'erasure of an account or of footage by request',
    commands: { create: 'createErasure', list: 'listErasures', show: 'getErasure' },
  },
  retention: {
    description: 'deletion of stored video by age',
    commands: { run: 'runRetention', show: 'getHaulerRetention', set: 'setHaulerRetention' },
  },
  'hosted-site-data': {
    description: "haulers' sites, kiosks and materials on the partner side",
    commands: { replace: 'replaceHostedSiteData' },
  },
  'hosted-camera': { description: 'cameras of the partner side', commands: { set: 'setHostedCamera' } },
  'hosted-video-request': {
    description: 'clips that callers requested from the partner side',
    commands: { list: 'listHostedVideoRequests' },
  },
};
