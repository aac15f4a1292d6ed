import { RECORDING_ROUTES } from '../admin/recordings.routes.js';
import { RecordingFilters, StoredRecording } from '../admin/recording.dto.js';
import { FOR_PARTNERS, list, own, ownOne } from '../admin/route-helpers.js';
import { listOf } from '../admin/list.dto.js';
import { SyncChange, SyncChangeQuery } from '../admin/sync-change.dto.js';
import { QuarantinedRecord, QuarantineQuery } from '../admin/sync-refusal.dto.js';
import { SyncRun, SyncRunFilters } from '../admin/sync-run.dto.js';
import { SYNC_RUN_ROUTES } from '../admin/sync-runs.routes.js';
import { TruckFilters, UnreadWindow, VideoSubscription } from '../admin/video-subscription.dto.js';
import { VIDEO_SUBSCRIPTION_ROUTES } from '../admin/video-subscriptions.routes.js';
import { VisionFinding, VisionFindingFilters } from '../admin/vision-finding.dto.js';
import type { RouteDefinition } from '../common/api-contract.js';

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
