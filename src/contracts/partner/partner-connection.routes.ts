import { SYNC_RUN_ROUTES } from '../admin/sync-runs.routes.js';
import { RECORDING_ROUTES } from '../admin/recordings.routes.js';
import { VIDEO_SUBSCRIPTION_ROUTES } from '../admin/video-subscriptions.routes.js';
import { page } from '../admin/route-parts.js';
import { listOf } from '../admin/list.dto.js';
import { RecordingFilters, StoredRecording } from '../admin/recording.dto.js';
import { SyncRunFilters } from '../admin/sync-run.dto.js';
import { TruckFilters, UnreadWindow } from '../admin/video-subscription.dto.js';
import { VisionFindingFilters } from '../admin/vision-finding.dto.js';
import type { RouteDefinition } from '../common/api-contract.js';

const OTHER_KEY = 'The key is not that of a connection';
const OF_CONNECTIONS = { notFound: OTHER_KEY };
const ofOwn = (noun: string) => ({
  notFound: `No ${noun} of the connection has this id, or ${OTHER_KEY.toLowerCase()}`,
});
const forKeys = (description: string) => `${description} For keys of a connection.`;

/** How the platform reads a partner who hosts Site or Vision: for the key of that connection, and of it alone. */
export const PARTNER_SYNC_RUN_ROUTES = {
  listOwnSyncRuns: {
    ...SYNC_RUN_ROUTES.listSyncRuns,
    summary: 'List the synchronisation runs of the connection',
    description: forKeys('Newest first.'),
    query: SyncRunFilters,
    fails: OF_CONNECTIONS,
  },
  getOwnSyncRun: {
    ...SYNC_RUN_ROUTES.getSyncRun,
    summary: 'Read a synchronisation run of the connection',
    description: forKeys(SYNC_RUN_ROUTES.getSyncRun.description),
    fails: ofOwn('run'),
  },
  listOwnSyncRunChanges: {
    ...SYNC_RUN_ROUTES.listSyncRunChanges,
    summary: 'List what a run of the connection changed',
    description: forKeys(SYNC_RUN_ROUTES.listSyncRunChanges.description),
    fails: ofOwn('run'),
  },
  listOwnQuarantinedRecords: {
    ...SYNC_RUN_ROUTES.listQuarantinedRecords,
    summary: 'List the quarantined and flagged records of a run of the connection',
    description: forKeys(SYNC_RUN_ROUTES.listQuarantinedRecords.description),
    fails: ofOwn('run'),
  },
  listOwnFindings: {
    ...RECORDING_ROUTES.listVisionFindings,
    path: '/findings',
    summary: 'List the errors in the video lists of the connection',
    description: forKeys(RECORDING_ROUTES.listVisionFindings.description),
    query: VisionFindingFilters,
    fails: OF_CONNECTIONS,
  },
  listOwnVideoSubscriptions: {
    ...VIDEO_SUBSCRIPTION_ROUTES.listVideoSubscriptions,
    summary: 'List the trucks whose recordings the platform reads',
    description: forKeys('Newest first: up to which time each was read, and the error of the last read.'),
    query: TruckFilters,
    fails: OF_CONNECTIONS,
  },
  listOwnUnreadWindows: {
    ...page(UnreadWindow, 'times'),
    path: '/unread-windows',
    summary: 'List the times whose recordings could not be read',
    description: forKeys('Latest first, with the reason, and when each is read again.'),
    query: TruckFilters,
    fails: OF_CONNECTIONS,
  },
  listOwnRecordings: {
    ...RECORDING_ROUTES.listRecordings,
    response: listOf(StoredRecording),
    summary: 'List the recordings of the connection',
    description: forKeys(
      'The latest start first. `status=failed` shows what could not be downloaded, with the reason.',
    ),
    query: RecordingFilters,
    fails: OF_CONNECTIONS,
  },
  getOwnRecording: {
    ...RECORDING_ROUTES.getRecording,
    response: StoredRecording,
    summary: 'Read a recording of the connection',
    description: forKeys(RECORDING_ROUTES.getRecording.description),
    fails: ofOwn('recording'),
  },
  retryOwnRecording: {
    ...RECORDING_ROUTES.retryRecording,
    summary: 'Fetch a recording of the connection again',
    description: forKeys(RECORDING_ROUTES.retryRecording.description),
    fails: { ...RECORDING_ROUTES.retryRecording.fails, ...ofOwn('recording') },
  },
} as const satisfies Readonly<Record<string, RouteDefinition>>;
