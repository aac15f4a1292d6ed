import { type ApiRoute, COMMON_ERRORS, defineApi } from '../common/api-contract.js';
import { PageQuery } from '../common/pagination.dto.js';
import { SiteData } from '../site/site.dto.js';
import { Account, AccountQuery } from './account.dto.js';
import { Action, ActionQuery } from './action.dto.js';
import {
  API_KEY_EXAMPLES,
  ApiKey,
  ApiKeyQuery,
  IssueApiKeyRequest,
  IssuedApiKey,
  RotateApiKeyRequest,
} from './api-key.dto.js';
import { CatalogKiosk, CatalogMaterial, CatalogQuery, CatalogSite } from './catalog.dto.js';
import {
  Connection,
  CONNECTION_CHANGES,
  ConnectionCheck,
  ConnectionQuery,
  CreateConnectionRequest,
  NEW_CONNECTIONS,
  UpdateConnectionRequest,
} from './connection.dto.js';
import { ExchangeDetail, ExchangeList, ExchangeQuery, ReplayExchangesRequest } from './exchange.dto.js';
import { CreateHaulerRequest, Hauler, HAULER_EXAMPLES } from './hauler.dto.js';
import {
  HOSTED_RECORDING_MAX_BYTES,
  HOSTED_SITE_DATA_MAX_BYTES,
  HostedCamera,
  HostedHaulerParam,
  HostedRecording,
  HostedRecordingQuery,
  HostedSiteDataCounts,
  HostedVideoRequest,
  HostedVideoRequestQuery,
} from './hosted.dto.js';
import { HistoryEntry } from './history.dto.js';
import { IdParam, listOf } from './list.dto.js';
import { Overview } from './overview.dto.js';
import { REPLAY_EXAMPLES, ReplayedExchange, ReplayedExchanges, ReplayExchangeRequest } from './replay.dto.js';
import {
  Coverage,
  CoverageBucket,
  CoverageInterval,
  CoverageQuery,
  FleetCoverageQuery,
  RecordingQuery,
  StoredRecording,
  TruckDayCoverage,
} from './recording.dto.js';
import {
  ActiveSandboxScenario,
  ActiveSandboxScenarios,
  AdvanceClockRequest,
  CLOCK_EXAMPLES,
  SandboxCatalogue,
  SandboxClock,
  SandboxCustomerParam,
  SandboxScenarioParam,
  SandboxSubjectParam,
  SCENARIO_EXAMPLES,
  StartScenarioRequest,
} from './sandbox.dto.js';
import { RetentionRequest, RetentionResult, StorageCheck, StorageCheckQuery } from './storage.dto.js';
import {
  QuarantinedRecord,
  RejectSyncRunRequest,
  RequestedSyncRun,
  SyncChange,
  SyncChangeQuery,
  SyncRun,
  SyncRunQuery,
} from './sync-run.dto.js';
import { Ticket, TicketQuery, TicketRevision } from './ticket.dto.js';
import { OrderedVideoRequest, OrderVideoRequest, VideoRequest, VideoRequestQuery } from './video-request.dto.js';
import {
  ChangeVideoSubscription,
  CreateVideoSubscription,
  VideoSubscription,
  VideoSubscriptionQuery,
} from './video-subscription.dto.js';
import { VisionFinding, VisionFindingQuery } from './vision-finding.dto.js';

type DtoClass<T = object> = new () => T;

const ERRORS = {
  ...COMMON_ERRORS,
  notFound: 'NOT_FOUND',
  conflict: 'CONFLICT',
  gone: 'NOT_FOUND',
  rangeNotSatisfiable: 'INVALID_PAYLOAD',
} as const;

/**
 * One route of the admin API. Controllers take path, method, documentation and types from here; the command line
 * derives its commands and options from here. The name of a route is its operation id.
 */
export interface AdminRoute extends ApiRoute {
  /** Below the prefix, with parameters in braces. Its first part is the tag in the document. */
  readonly path: `/${string}`;
  readonly summary: string;
  readonly description: string;
  readonly params?: DtoClass;
  readonly query?: DtoClass;
  /** The JSON body. */
  readonly body?: DtoClass;
  /** A request without a body counts as `{}`. */
  readonly isBodyOptional?: boolean;
  /** Bodies that the service accepts, where the examples of all fields together are not one. */
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: object }>>;
  /** A body that is larger than HTTP_BODY_LIMIT and that the handler reads itself. */
  readonly upload?: {
    readonly contentType: 'application/json' | 'video/mp4';
    readonly maxBytes: number;
    readonly schema?: DtoClass;
  };
  readonly status: 200 | 201 | 202 | 204;
  /** The JSON response. */
  readonly response?: DtoClass;
  /** Schemas that the response refers to by name. */
  readonly variants?: readonly DtoClass[];
  /** The content type of a response that is a file, with range requests. */
  readonly file?: string;
  /** Describes the response. */
  readonly returns: string;
  /** The response shows a secret: no cache may store it. */
  readonly isSecret?: boolean;
  /** Failures beyond those of every route: the code follows from the kind, the text says when it happens. */
  readonly fails?: Readonly<Partial<Record<keyof typeof ERRORS, string>>>;
}

const page = <T extends object>(element: DtoClass<T>, elements: string) =>
  ({ method: 'GET', status: 200, response: listOf(element), returns: `A page of ${elements}` }) as const;

const read = { method: 'GET', status: 200, params: IdParam } as const;

const ROUTES = {
  getOverview: {
    method: 'GET',
    path: '/overview',
    summary: 'Read the last 24 hours in numbers',
    description:
      'By hour (UTC), the current one last: pushes of tickets by result, stored recordings, exchanges by status; and the refused pushes by reason.',
    status: 200,
    response: Overview,
    returns: 'The overview',
  },

  createHauler: {
    method: 'POST',
    path: '/haulers',
    summary: 'Create a hauler',
    description: 'A hauler is a tenant of the platform.',
    body: CreateHaulerRequest,
    examples: HAULER_EXAMPLES,
    status: 201,
    response: Hauler,
    returns: 'The hauler',
    fails: { conflict: 'A hauler with this id exists' },
  },
  listHaulers: {
    ...page(Hauler, 'haulers'),
    path: '/haulers',
    summary: 'List haulers',
    description: 'Newest first.',
    query: PageQuery,
  },
  getHauler: {
    ...read,
    path: '/haulers/{id}',
    summary: 'Read a hauler',
    description: 'By its id.',
    response: Hauler,
    returns: 'The hauler',
    fails: { notFound: 'No hauler has this id' },
  },

  issueApiKey: {
    method: 'POST',
    path: '/api-keys',
    summary: 'Issue an API key',
    description: 'Only this response shows the key.',
    body: IssueApiKeyRequest,
    examples: API_KEY_EXAMPLES,
    status: 201,
    response: IssuedApiKey,
    returns: 'The key',
    isSecret: true,
  },
  listApiKeys: {
    ...page(ApiKey, 'keys'),
    path: '/api-keys',
    summary: 'List API keys',
    description: 'Newest first, without the keys themselves.',
    query: ApiKeyQuery,
  },
  rotateApiKey: {
    method: 'POST',
    path: '/api-keys/{id}/rotate',
    summary: 'Rotate an API key',
    description:
      'The new key is dormant until its first use. From then on the old key works for the overlap only. A second rotation before the first use replaces the dormant key.',
    params: IdParam,
    body: RotateApiKeyRequest,
    isBodyOptional: true,
    status: 201,
    response: IssuedApiKey,
    returns: 'The new key',
    isSecret: true,
    fails: { notFound: 'No key has this id', conflict: 'The key is revoked or has expired: issue a new key' },
  },
  revokeApiKey: {
    method: 'DELETE',
    path: '/api-keys/{id}',
    summary: 'Revoke an API key',
    description: 'Permanently, on every instance within 5 s.',
    params: IdParam,
    status: 204,
    returns: 'The key is revoked',
    fails: { notFound: 'No key has this id' },
  },

  listTickets: {
    ...page(Ticket, 'tickets'),
    path: '/tickets',
    summary: 'List tickets',
    description: 'Last received first.',
    query: TicketQuery,
  },
  getTicket: {
    ...read,
    path: '/tickets/{id}',
    summary: 'Read a ticket',
    description: 'By its id, the `disposalTicketId` of the response to the partner.',
    response: Ticket,
    returns: 'The current state of the ticket',
    fails: { notFound: 'No ticket has this id' },
  },
  listTicketRevisions: {
    ...page(TicketRevision, 'pushes'),
    path: '/tickets/{id}/revisions',
    summary: 'List the stored pushes of a ticket',
    description: 'Each push as it was sent, oldest first.',
    params: IdParam,
    query: PageQuery,
    fails: { notFound: 'No ticket has this id' },
  },
  listTicketHistory: {
    ...page(HistoryEntry, 'events'),
    path: '/tickets/{id}/history',
    summary: 'List the history of a ticket',
    description:
      'Each push with request id, key, result and changed fields, and the refused pushes that named its numbers. Newest first, at most the newest 1,000. Exchanges are kept for some days.',
    params: IdParam,
    query: PageQuery,
    fails: { notFound: 'Nothing has this id' },
  },

  listAccounts: {
    ...page(Account, 'accounts'),
    path: '/accounts',
    summary: 'List accounts',
    description: 'Newest first.',
    query: AccountQuery,
  },
  getAccount: {
    ...read,
    path: '/accounts/{id}',
    summary: 'Read an account',
    description: 'By its id, the `accountId` of the response to the partner.',
    response: Account,
    returns: 'The account',
    fails: { notFound: 'No account has this id' },
  },
  listAccountHistory: {
    ...page(HistoryEntry, 'events'),
    path: '/accounts/{id}/history',
    summary: 'List the history of an account',
    description:
      'The calls that created it, repeated its creation or wanted its name. Newest first, at most the newest 1,000. Exchanges are kept for some days.',
    params: IdParam,
    query: PageQuery,
    fails: { notFound: 'Nothing has this id' },
  },

  createConnection: {
    method: 'POST',
    path: '/connections',
    summary: 'Connect a hauler to a partner',
    description: 'The service never shows the keys again. An enabled site connection starts its first run at once.',
    body: CreateConnectionRequest,
    examples: NEW_CONNECTIONS,
    status: 201,
    response: Connection,
    returns: 'The connection',
  },
  listConnections: {
    ...page(Connection, 'connections'),
    path: '/connections',
    summary: 'List connections',
    description: 'Newest first.',
    query: ConnectionQuery,
  },
  getConnection: {
    ...read,
    path: '/connections/{id}',
    summary: 'Read a connection',
    description: 'By its id, without its keys.',
    response: Connection,
    returns: 'The connection',
    fails: { notFound: 'No connection has this id' },
  },
  updateConnection: {
    method: 'PATCH',
    path: '/connections/{id}',
    summary: 'Change a connection',
    description:
      'Fields that are absent stay the same. `enabled: false` pauses the connection; the service tries a new address, key or customer at once.',
    params: IdParam,
    body: UpdateConnectionRequest,
    examples: CONNECTION_CHANGES,
    status: 200,
    response: Connection,
    returns: 'The connection',
    fails: { notFound: 'No connection has this id' },
  },
  deleteConnection: {
    method: 'DELETE',
    path: '/connections/{id}',
    summary: 'Delete a connection',
    description: 'Erases its keys and ends all calls to the partner; the data that came through it stays.',
    params: IdParam,
    status: 204,
    returns: 'The connection is deleted',
    fails: { notFound: 'No connection has this id' },
  },
  checkConnection: {
    method: 'POST',
    path: '/connections/{id}/check',
    summary: 'Check a connection',
    description:
      'Calls the partner once and reports the findings. Changes no data, but promotes a next key that works.',
    params: IdParam,
    status: 200,
    response: ConnectionCheck,
    returns: 'The findings',
    fails: { notFound: 'No connection has this id' },
  },
  syncConnection: {
    method: 'POST',
    path: '/connections/{id}/sync',
    summary: 'Synchronise a site connection now',
    description: 'Also while the connection is paused. While a run is active, the response names that run.',
    params: IdParam,
    status: 202,
    response: RequestedSyncRun,
    returns: 'The run',
    fails: { notFound: 'No connection has this id' },
  },

  listSyncRuns: {
    ...page(SyncRun, 'runs'),
    path: '/sync-runs',
    summary: 'List synchronisation runs',
    description: 'Newest first.',
    query: SyncRunQuery,
  },
  getSyncRun: {
    ...read,
    path: '/sync-runs/{id}',
    summary: 'Read a synchronisation run',
    description: 'With its counts for each kind of record.',
    response: SyncRun,
    returns: 'The run',
    fails: { notFound: 'No run has this id' },
  },
  listQuarantinedRecords: {
    ...page(QuarantinedRecord, 'records'),
    path: '/sync-runs/{id}/quarantine',
    summary: 'List the quarantined and flagged records of a run',
    description:
      'Records that the run skipped, and records that it stored with a flag. The service keeps at most 10,000 records of a run, for the newest 20 runs of a connection.',
    params: IdParam,
    query: PageQuery,
    fails: { notFound: 'No run has this id' },
  },
  listSyncRunChanges: {
    ...page(SyncChange, 'changes'),
    path: '/sync-runs/{id}/changes',
    summary: 'List what a run changed',
    description:
      'Each record before and after. A held run also lists the removals that a confirmation applies. The service keeps at most 10,000 changes of each kind and type of a run, for the newest 100 runs of a connection that changed something.',
    params: IdParam,
    query: SyncChangeQuery,
    fails: { notFound: 'No run has this id' },
  },
  rejectSyncRun: {
    method: 'POST',
    path: '/sync-runs/{id}/reject',
    summary: 'Reject held removals',
    description:
      'Discards the held removals: the records stay active, and the run becomes `rejected`. The next response that would remove them is held again.',
    params: IdParam,
    body: RejectSyncRunRequest,
    isBodyOptional: true,
    status: 200,
    response: SyncRun,
    returns: 'The run',
    fails: {
      notFound: 'No run has this id',
      conflict: 'The run holds no removals, or a newer run of the connection has begun',
    },
  },
  confirmSyncRun: {
    method: 'POST',
    path: '/sync-runs/{id}/confirm',
    summary: 'Confirm held removals',
    description: "Deactivates the records that were absent from the partner's response; the run becomes `succeeded`.",
    params: IdParam,
    status: 200,
    response: SyncRun,
    returns: 'The run',
    fails: {
      notFound: 'No run has this id',
      conflict: 'The run holds no removals, or a newer run of the connection has begun',
    },
  },
  listSyncRunHistory: {
    ...page(HistoryEntry, 'events'),
    path: '/sync-runs/{id}/history',
    summary: 'List the history of a synchronisation run',
    description:
      'Its calls to the partner, its result, and the decisions of admins. Newest first, at most the newest 1,000. Exchanges are kept for some days.',
    params: IdParam,
    query: PageQuery,
    fails: { notFound: 'Nothing has this id' },
  },

  listSites: {
    ...page(CatalogSite, 'sites'),
    path: '/sites',
    summary: 'List sites',
    description: 'As last synchronised, newest first.',
    query: CatalogQuery,
  },
  listKiosks: {
    ...page(CatalogKiosk, 'kiosks'),
    path: '/kiosks',
    summary: 'List kiosks',
    description: 'As last synchronised, newest first.',
    query: CatalogQuery,
  },
  listMaterials: {
    ...page(CatalogMaterial, 'materials'),
    path: '/materials',
    summary: 'List materials',
    description: 'As last synchronised, newest first.',
    query: CatalogQuery,
  },

  createVideoRequest: {
    method: 'POST',
    path: '/video-requests',
    summary: 'Request on-demand video',
    description:
      'The service requests the clip from the partner and downloads it. It splits a long range into several parts.',
    body: OrderVideoRequest,
    status: 202,
    response: OrderedVideoRequest,
    returns: 'The request',
  },
  listVideoRequests: {
    ...page(VideoRequest, 'requests'),
    path: '/video-requests',
    summary: 'List video requests',
    description: 'Newest first.',
    query: VideoRequestQuery,
  },
  getVideoRequest: {
    ...read,
    path: '/video-requests/{id}',
    summary: 'Read a video request',
    description: 'With its parts and the ids of its recordings.',
    response: VideoRequest,
    returns: 'The request',
    fails: { notFound: 'No request has this id' },
  },
  listVideoRequestHistory: {
    ...page(HistoryEntry, 'events'),
    path: '/video-requests/{id}/history',
    summary: 'List the history of a video request',
    description:
      'How it was submitted, each poll that changed something, download attempts and replaced links. Newest first, at most the newest 1,000. Exchanges are kept for some days.',
    params: IdParam,
    query: PageQuery,
    fails: { notFound: 'Nothing has this id' },
  },

  createVideoSubscription: {
    method: 'POST',
    path: '/video-subscriptions',
    summary: 'Subscribe to the continuous recordings of a truck',
    description: 'From `startTime` on, of one camera or of all. The first read starts at once.',
    body: CreateVideoSubscription,
    status: 201,
    response: VideoSubscription,
    returns: 'The subscription',
  },
  listVideoSubscriptions: {
    ...page(VideoSubscription, 'subscriptions'),
    path: '/video-subscriptions',
    summary: 'List video subscriptions',
    description: 'Newest first.',
    query: VideoSubscriptionQuery,
  },
  getVideoSubscription: {
    ...read,
    path: '/video-subscriptions/{id}',
    summary: 'Read a video subscription',
    description: 'With the time up to which its recordings were listed.',
    response: VideoSubscription,
    returns: 'The subscription',
    fails: { notFound: 'No subscription has this id' },
  },
  updateVideoSubscription: {
    method: 'PATCH',
    path: '/video-subscriptions/{id}',
    summary: 'Change a video subscription',
    description: 'Changes its interval, or pauses and resumes it.',
    params: IdParam,
    body: ChangeVideoSubscription,
    status: 200,
    response: VideoSubscription,
    returns: 'The subscription',
    fails: { notFound: 'No subscription has this id' },
  },
  deleteVideoSubscription: {
    method: 'DELETE',
    path: '/video-subscriptions/{id}',
    summary: 'End a video subscription',
    description: 'Listed recordings stay, and the service still downloads them.',
    params: IdParam,
    status: 204,
    returns: 'The subscription is deleted',
    fails: { notFound: 'No subscription has this id' },
  },

  listRecordings: {
    ...page(StoredRecording, 'recordings'),
    path: '/recordings',
    summary: 'List recordings',
    description: 'Latest start first.',
    query: RecordingQuery,
  },
  getRecording: {
    ...read,
    path: '/recordings/{id}',
    summary: 'Read a recording',
    description: 'By its id.',
    response: StoredRecording,
    returns: 'The recording',
    fails: { notFound: 'No recording has this id' },
  },
  getRecordingContent: {
    ...read,
    path: '/recordings/{id}/content',
    summary: 'Download a recording',
    description: 'The whole file, or the part that `Range` names.',
    file: 'video/mp4',
    returns: 'The file',
    fails: { notFound: 'No recording has this id, or its file is not stored' },
  },
  getCoverage: {
    method: 'GET',
    path: '/coverage',
    summary: 'Read the recording coverage of a truck',
    description:
      'Splits the requested time of each camera into intervals that are stored, available, missing or expired, with the reason. With `resolution` it returns the seconds of each state in buckets instead, for any number of recordings.',
    query: CoverageQuery,
    status: 200,
    response: Coverage,
    variants: [CoverageInterval, CoverageBucket],
    returns: 'The intervals or buckets',
  },
  listFleetCoverage: {
    ...page(TruckDayCoverage, 'days of trucks'),
    path: '/coverage/fleet',
    summary: 'Read the recording coverage of a fleet',
    description:
      "One row per truck and day (UTC), by truck and then by day. Includes the hauler's trucks with a recording or a subscription in this time.",
    query: FleetCoverageQuery,
  },
  listVisionFindings: {
    ...page(VisionFinding, 'findings'),
    path: '/vision-findings',
    summary: "List the errors in partners' video lists",
    description: 'Latest first seen first. The service skipped the listed elements and stored the others.',
    query: VisionFindingQuery,
  },

  listExchanges: {
    method: 'GET',
    path: '/exchanges',
    summary: 'List HTTP exchanges',
    description:
      'Calls of the four interfaces in both directions, newest first, also those that were refused, timed out or never reached the partner. There are no totals; an unknown filter is 400.',
    query: ExchangeQuery,
    status: 200,
    response: ExchangeList,
    returns: 'A page of exchanges',
  },
  getExchange: {
    ...read,
    path: '/exchanges/{id}',
    summary: 'Read an HTTP exchange',
    description: 'With headers and bodies without secrets, and an explanation.',
    response: ExchangeDetail,
    returns: 'The exchange',
    fails: { notFound: 'No exchange has this id, or its day is no longer kept' },
  },
  replayExchange: {
    method: 'POST',
    path: '/exchanges/{id}/replay',
    summary: 'Send the request of an exchange again',
    description:
      "An inbound push as it was, under a new request id and without a key, for the same hauler or another one; an `Idempotency-Key` of a push that was not refused applies again. An outbound `GET` to the connection's current address. An outbound `POST` is never sent again.",
    params: IdParam,
    body: ReplayExchangeRequest,
    isBodyOptional: true,
    status: 201,
    response: ReplayedExchange,
    returns: 'The new exchange',
    fails: {
      notFound: 'No exchange has this id, or its day is no longer kept',
      conflict: 'The exchange cannot be replayed: the message says why',
    },
  },
  replayExchanges: {
    method: 'POST',
    path: '/exchanges/replay',
    summary: 'Send the requests of many exchanges again',
    description:
      'Of all exchanges that match the filter, the oldest first, at most 1,000. An exchange that is itself a replay, or cannot be replayed, is skipped with the reason. At least one filter is needed, except in a dry run.',
    body: ReplayExchangesRequest,
    examples: REPLAY_EXAMPLES,
    status: 200,
    response: ReplayedExchanges,
    returns: 'What was sent',
    fails: { conflict: 'The exchange log is off' },
  },

  replaceHostedSiteData: {
    method: 'PUT',
    path: '/hosted/haulers/{haulerId}/site-data',
    summary: "Replace a hauler's data on the partner side",
    description:
      'Replaces all of it: a record that is not in the body is deleted, and an empty body makes the hauler unknown. Invalid records, repeated ids and unknown parents are refused with every violation, and nothing changes. Up to 256 MB.',
    params: HostedHaulerParam,
    upload: { contentType: 'application/json', maxBytes: HOSTED_SITE_DATA_MAX_BYTES, schema: SiteData },
    status: 200,
    response: HostedSiteDataCounts,
    returns: 'The number of stored records',
  },
  setHostedCamera: {
    method: 'PUT',
    path: '/hosted/cameras',
    summary: 'Set the aliases of a camera on the partner side',
    description:
      'Replaces its aliases. Recordings under an alias become recordings of this camera; 409, and nothing changes, if two recordings would start at the same time.',
    body: HostedCamera,
    status: 200,
    response: HostedCamera,
    returns: 'The camera',
    fails: { conflict: 'Two recordings would start at the same time; nothing changes' },
  },
  uploadHostedRecording: {
    method: 'POST',
    path: '/hosted/recordings',
    summary: 'Upload a recording to the partner side',
    description: 'An MP4 file of up to 2 GiB, streamed.',
    query: HostedRecordingQuery,
    upload: { contentType: 'video/mp4', maxBytes: HOSTED_RECORDING_MAX_BYTES },
    status: 201,
    response: HostedRecording,
    returns: 'The stored recording',
    fails: {
      requestTimeout: 'The upload paused for too long',
      conflict: 'The camera has a recording that starts at this time',
      tooLarge: 'The file is larger than 2 GiB',
      unsupportedMediaType: 'The body is not `video/mp4`, or has a content coding',
    },
  },
  listHostedVideoRequests: {
    ...page(HostedVideoRequest, 'requests'),
    path: '/hosted/video-requests',
    summary: 'List the video requests that callers made to the partner side',
    description: 'Newest first.',
    query: HostedVideoRequestQuery,
  },

  listSandboxScenarios: {
    method: 'GET',
    path: '/sandbox/scenarios',
    summary: 'List the scenarios of the sandbox',
    description: 'The whole catalogue. 404 without `SANDBOX`, as every call of the sandbox.',
    status: 200,
    response: SandboxCatalogue,
    returns: 'The catalogue',
    fails: { notFound: 'SANDBOX is off' },
  },
  listActiveScenarios: {
    method: 'GET',
    path: '/sandbox/{subject}/{subjectId}',
    summary: 'List the active scenarios of a hauler or customer',
    description: 'With the requests and the time that are left.',
    params: SandboxSubjectParam,
    status: 200,
    response: ActiveSandboxScenarios,
    returns: 'The active scenarios',
    fails: { notFound: 'SANDBOX is off' },
  },
  startScenario: {
    method: 'PUT',
    path: '/sandbox/{subject}/{subjectId}/scenarios/{name}',
    summary: 'Start a scenario',
    description:
      'Acts on the requests of a hauler (Scale, Account, Site) or of a customer (Vision), and ends by itself. Of several scenarios the one that started first acts.',
    params: SandboxScenarioParam,
    body: StartScenarioRequest,
    examples: SCENARIO_EXAMPLES,
    status: 200,
    response: ActiveSandboxScenario,
    returns: 'The active scenario',
    fails: { notFound: 'The catalogue has no such scenario, or SANDBOX is off' },
  },
  endScenario: {
    method: 'DELETE',
    path: '/sandbox/{subject}/{subjectId}/scenarios/{name}',
    summary: 'End a scenario',
    description: 'Also if it is not active.',
    params: SandboxScenarioParam,
    status: 204,
    returns: 'The scenario is not active',
    fails: { notFound: 'The catalogue has no such scenario, or SANDBOX is off' },
  },
  advanceClock: {
    method: 'POST',
    path: '/sandbox/customers/{customerId}/clock',
    summary: "Move the reference partner's time forward for a customer",
    description:
      'By seconds, or to the next event: the next clip is ready, all links issued so far have expired, or the newest recording ended six hours ago, after which the platform does not list it again.',
    params: SandboxCustomerParam,
    body: AdvanceClockRequest,
    examples: CLOCK_EXAMPLES,
    status: 200,
    response: SandboxClock,
    returns: 'The new time',
    fails: { notFound: 'SANDBOX is off', conflict: 'There is no such event ahead' },
  },

  listActions: {
    ...page(Action, 'actions'),
    path: '/actions',
    summary: 'List the actions of admins and partners',
    description:
      'Every change by the admin API, the console or the partner API, newest first, for 400 days. Failed calls are not listed.',
    query: ActionQuery,
  },

  checkStorage: {
    method: 'GET',
    path: '/doctor',
    summary: 'Compare the video storage with the database',
    description:
      'Lists files without a row, and rows whose file is missing or differs. Changes nothing. With `checksums` the service reads every file, which takes as long as reading them does.',
    query: StorageCheckQuery,
    status: 200,
    response: StorageCheck,
    returns: 'The differences',
  },
  runRetention: {
    method: 'POST',
    path: '/retention',
    summary: 'Delete stored video by age now',
    description: 'Deletes what is older than `VIDEO_RETENTION_DAYS`, as the service does every hour.',
    body: RetentionRequest,
    isBodyOptional: true,
    status: 200,
    response: RetentionResult,
    returns: 'The number of deleted recordings',
  },
} as const satisfies Readonly<Record<string, AdminRoute>>;

/** The admin API, under a prefix of its own: bearer token, the common error body. */
export const ADMIN_API = defineApi({
  name: 'admin',
  title: 'Admin API',
  version: '1.0.0',
  prefix: '/admin/v1',
  keyHeader: 'Authorization',
  routes: ROUTES,
  codes: ['INVALID_PAYLOAD', 'UNAUTHORIZED', 'NOT_FOUND', 'CONFLICT', 'INTERNAL_ERROR'],
  errors: ERRORS,
});

export type AdminRouteName = keyof typeof ROUTES;

/** The routes by name, without the exact types of each. */
export const ADMIN_ROUTES: Readonly<Record<AdminRouteName, AdminRoute>> = ROUTES;

type Input<Class> = Class extends DtoClass<infer T> ? [T] : [];
type Part<Name extends AdminRouteName, Key extends string> =
  (typeof ROUTES)[Name] extends Readonly<Record<Key, infer Class>> ? Class : undefined;

/** The parsed input of a route, in the order in which a handler declares it: path, query, JSON body. */
export type AdminInput<Name extends AdminRouteName> = [
  ...Input<Part<Name, 'params'>>,
  ...Input<Part<Name, 'query'>>,
  ...Input<Part<Name, 'body'>>,
];

/** The response of a route; `undefined` if it has no JSON body. */
export type AdminResponse<Name extends AdminRouteName> =
  Part<Name, 'response'> extends DtoClass<infer T> ? T : undefined;

/** The subjects of the admin API in the order in which an admin meets them: the first part of a path, and its text. */
export const ADMIN_SUBJECTS: ReadonlyMap<string, string> = new Map([
  ['overview', 'The last 24 hours in numbers'],
  ['haulers', 'Tenants of the platform: each has its own keys, tickets, accounts and connections'],
  ['api-keys', 'API keys that this service issues to partners: issue, rotate without an outage, revoke'],
  ['tickets', 'Disposal tickets that partners pushed, and every stored push'],
  ['accounts', 'Customer accounts that partners created'],
  ['connections', "A hauler's links to the Site and Vision interfaces of partners: address, key, schedule"],
  ['sync-runs', 'Synchronisation runs of site connections: counts, quarantined records, held removals'],
  ['sites', 'Disposal sites as last synchronised'],
  ['kiosks', 'Stations within sites'],
  ['materials', 'Materials that a site or kiosk accepts'],
  ['video-requests', 'Requests for on-demand clips, and their progress'],
  ['video-subscriptions', 'Subscriptions to the continuous recordings of trucks'],
  ['recordings', 'Recordings and clips from partners, and their files'],
  ['coverage', 'The stored, available, missing and expired video of a truck over time'],
  ['vision-findings', "Errors in partners' video lists"],
  ['exchanges', 'HTTP exchanges in both directions: search, explanation, replay'],
  ['hosted', 'Data of the partner side, which the reference partner serves'],
  ['sandbox', 'Faults to rehearse, and the clock of the reference partner'],
  ['actions', 'The action log: who changed what, and when'],
  ['doctor', 'Comparison of the video storage with the database'],
  ['retention', 'Deletion of stored video by age'],
]);
