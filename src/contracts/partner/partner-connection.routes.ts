import { Account, AccountFilters } from '../admin/accounts.routes.js';
import { CatalogFilters, CatalogMaterial, CatalogSite } from '../admin/catalog.routes.js';
import { listOf, ListQuery } from '../admin/list.dto.js';
import { FOR_PARTNERS, list, listOfOne, one, own, ownOne } from '../admin/route-helpers.js';
import { Ticket, TicketFilters, TicketPush, TicketRevision } from '../admin/tickets.routes.js';
import type { RouteDefinition } from '../common/api-contract.js';
import { NestedList } from '../common/fields/decorators.js';
import { RECORDING_ROUTES, RecordingFilters, StoredRecording } from '../admin/recordings.routes.js';
import {
  QuarantinedRecord,
  QuarantineQuery,
  SYNC_RUN_ROUTES,
  SyncChange,
  SyncChangeQuery,
  SyncRun,
  SyncRunFilters,
} from '../admin/sync-runs.routes.js';
import {
  TruckFilters,
  UnreadWindow,
  VIDEO_SUBSCRIPTION_ROUTES,
  VideoSubscription,
} from '../admin/video-subscriptions.routes.js';
import { VisionFinding, VisionFindingFilters } from '../admin/vision-finding.dto.js';

/** Pushes that a ticket is shown with. */
export const MAX_SHOWN_PUSHES = 100;

class OwnTicket extends Ticket {
  @NestedList(`Its stored pushes, the newest ${MAX_SHOWN_PUSHES}, newest first`, TicketPush) revisions!: TicketPush[];
}

const needs = (name: string) => ({ notFound: `The key has no hauler, or does not open the ${name} interface` });
const ofOwn = (noun: string, name: string) => ({
  notFound: `No ${noun} of the hauler has this id, or the key does not open the ${name} interface`,
});

const CATALOG =
  'As the last synchronisation left them. For keys that open Scale or Site; for a key of a connection what came through it.';

/** What the platform has of the hauler of a key, also what other keys of that hauler pushed. */
export const PARTNER_RECORD_ROUTES = {
  listOwnTickets: list(FOR_PARTNERS, '/tickets', Ticket, TicketFilters, {
    summary: 'List the tickets of the hauler',
    description: 'Last received first. `ticketNumber=IN-204817` finds the ticket of a push. For keys that open Scale.',
    fails: needs('Scale'),
  }),
  getOwnTicket: one(FOR_PARTNERS, '/tickets/{id}', 'ticket', OwnTicket, {
    summary: 'Read a ticket of the hauler',
    description: 'Its state, and which pushes made it. For keys that open Scale.',
    fails: ofOwn('ticket', 'Scale'),
  }),
  listOwnTicketRevisions: listOfOne(FOR_PARTNERS, '/tickets/{id}/revisions', 'ticket', TicketRevision, ListQuery, {
    summary: 'List the stored pushes of a ticket of the hauler',
    description: 'Each push as it was sent, oldest first. For keys that open Scale.',
    fails: ofOwn('ticket', 'Scale'),
  }),
  listOwnAccounts: list(FOR_PARTNERS, '/accounts', Account, AccountFilters, {
    summary: 'List the accounts of the hauler',
    description: 'Newest first. For keys that open Account.',
    fails: needs('Account'),
  }),
  listOwnSites: list(FOR_PARTNERS, '/sites', CatalogSite, CatalogFilters, {
    summary: 'List the sites that the platform knows',
    description: CATALOG,
    fails: needs('Scale or the Site'),
  }),
  listOwnMaterials: list(FOR_PARTNERS, '/materials', CatalogMaterial, CatalogFilters, {
    summary: 'List the materials that the platform knows',
    description: CATALOG,
    fails: needs('Scale or the Site'),
  }),
} as const satisfies Readonly<Record<string, RouteDefinition>>;

const OTHER_KEY = 'The key is not that of a connection';
const OF_CONNECTIONS = { notFound: OTHER_KEY };
const noneOf = (noun: string) => `No ${noun} of the connection has this id, or ${OTHER_KEY.toLowerCase()}`;
const forKeys = (description: string) => `${description} For keys of a connection.`;

/** How the platform reads a partner who hosts Site or Vision: for the key of that connection, and of it alone. */
export const PARTNER_CONNECTION_ROUTES = {
  listOwnSyncRuns: own(SYNC_RUN_ROUTES.listSyncRuns, {
    summary: 'List the synchronisation runs of the connection',
    description: forKeys('Newest first.'),
    query: SyncRunFilters,
    response: listOf(SyncRun),
    fails: OF_CONNECTIONS,
  }),
  getOwnSyncRun: ownOne(SYNC_RUN_ROUTES.getSyncRun, noneOf('run'), {
    summary: 'Read a synchronisation run of the connection',
    description: forKeys(SYNC_RUN_ROUTES.getSyncRun.description),
    response: SyncRun,
  }),
  listOwnSyncRunChanges: ownOne(SYNC_RUN_ROUTES.listSyncRunChanges, noneOf('run'), {
    summary: 'List what a run of the connection changed',
    description: forKeys(SYNC_RUN_ROUTES.listSyncRunChanges.description),
    query: SyncChangeQuery,
    response: listOf(SyncChange),
    csv: true,
  }),
  listOwnQuarantinedRecords: ownOne(SYNC_RUN_ROUTES.listQuarantinedRecords, noneOf('run'), {
    summary: 'List the quarantined and flagged records of a run of the connection',
    description: forKeys(SYNC_RUN_ROUTES.listQuarantinedRecords.description),
    query: QuarantineQuery,
    response: listOf(QuarantinedRecord),
    csv: true,
  }),
  listOwnFindings: list(FOR_PARTNERS, '/findings', VisionFinding, VisionFindingFilters, {
    summary: 'List the errors in the video lists of the connection',
    description: forKeys(RECORDING_ROUTES.listVisionFindings.description),
    csv: true,
    fails: OF_CONNECTIONS,
  }),
  listOwnVideoSubscriptions: own(VIDEO_SUBSCRIPTION_ROUTES.listVideoSubscriptions, {
    summary: 'List the trucks whose recordings the platform reads',
    description: forKeys('Newest first: up to which time each was read, and the error of the last read.'),
    query: TruckFilters,
    response: listOf(VideoSubscription),
    fails: OF_CONNECTIONS,
  }),
  listOwnUnreadWindows: list(FOR_PARTNERS, '/unread-windows', UnreadWindow, TruckFilters, {
    summary: 'List the times whose recordings could not be read',
    description: forKeys('Latest first, with the reason, and when each is read again.'),
    fails: OF_CONNECTIONS,
  }),
  listOwnRecordings: own(RECORDING_ROUTES.listRecordings, {
    summary: 'List the recordings of the connection',
    description: forKeys(
      'The latest start first. `status=failed` shows what could not be downloaded, with the reason.',
    ),
    query: RecordingFilters,
    response: listOf(StoredRecording),
    csv: true,
    fails: OF_CONNECTIONS,
  }),
  getOwnRecording: ownOne(RECORDING_ROUTES.getRecording, noneOf('recording'), {
    summary: 'Read a recording of the connection',
    description: forKeys(RECORDING_ROUTES.getRecording.description),
    response: StoredRecording,
  }),
  retryOwnRecording: ownOne(RECORDING_ROUTES.retryRecording, noneOf('recording'), {
    summary: 'Fetch a recording of the connection again',
    description: forKeys(RECORDING_ROUTES.retryRecording.description),
    response: StoredRecording,
    fails: RECORDING_ROUTES.retryRecording.fails,
  }),
} as const satisfies Readonly<Record<string, RouteDefinition>>;
