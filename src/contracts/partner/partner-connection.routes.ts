import { CONNECTION_ROUTES } from '../admin/connections.routes.js';
import { page } from '../admin/route-parts.js';
import { listOf } from '../admin/list.dto.js';
import { RecordingFilters, StoredRecording } from '../admin/recording.dto.js';
import { SyncRunFilters } from '../admin/sync-run.dto.js';
import { VIDEO_ROUTES } from '../admin/video.routes.js';
import { TruckFilters, UnreadWindow } from '../admin/video-subscription.dto.js';
import { VisionFindingFilters } from '../admin/vision-finding.dto.js';
import type { RouteDefinition } from '../common/api-contract.js';
import { OwnAttention } from './own-attention.dto.js';

const OTHER_KEY = 'The key is not that of a connection';
const OF_CONNECTIONS = { notFound: OTHER_KEY };
const ofOwn = (noun: string) => ({
  notFound: `No ${noun} of the connection has this id, or ${OTHER_KEY.toLowerCase()}`,
});
const forKeys = (description: string) => `${description} For keys of a connection.`;

/** How the platform reads a partner who hosts Site or Vision: for the key of that connection, and of it alone. */
export const PARTNER_CONNECTION_ROUTES = {
  getOwnAttention: {
    method: 'GET',
    path: '/attention',
    summary: 'List what needs attention of the connection',
    description: forKeys(
      'One ranked list, from the checks that the admins of the platform see: failing calls, refused keys, synchronisations, lists that were not read, lost footage. `checked` names every check, also those that found nothing. It is at most 10 s old.',
    ),
    status: 200,
    response: OwnAttention,
    returns: 'What needs attention',
    fails: { notFound: `${OTHER_KEY}, or the connection was deleted` },
  },
  listOwnSyncRuns: {
    ...CONNECTION_ROUTES.listSyncRuns,
    summary: 'List the synchronisation runs of the connection',
    description: forKeys('Newest first.'),
    query: SyncRunFilters,
    fails: OF_CONNECTIONS,
  },
  getOwnSyncRun: {
    ...CONNECTION_ROUTES.getSyncRun,
    summary: 'Read a synchronisation run of the connection',
    description: forKeys(CONNECTION_ROUTES.getSyncRun.description),
    fails: ofOwn('run'),
  },
  listOwnSyncRunChanges: {
    ...CONNECTION_ROUTES.listSyncRunChanges,
    summary: 'List what a run of the connection changed',
    description: forKeys(CONNECTION_ROUTES.listSyncRunChanges.description),
    fails: ofOwn('run'),
  },
  listOwnQuarantinedRecords: {
    ...CONNECTION_ROUTES.listQuarantinedRecords,
    summary: 'List the quarantined and flagged records of a run of the connection',
    description: forKeys(CONNECTION_ROUTES.listQuarantinedRecords.description),
    fails: ofOwn('run'),
  },
  listOwnFindings: {
    ...VIDEO_ROUTES.listVisionFindings,
    path: '/findings',
    summary: 'List the errors in the video lists of the connection',
    description: forKeys(VIDEO_ROUTES.listVisionFindings.description),
    query: VisionFindingFilters,
    fails: OF_CONNECTIONS,
  },
  listOwnVideoSubscriptions: {
    ...VIDEO_ROUTES.listVideoSubscriptions,
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
    ...VIDEO_ROUTES.listRecordings,
    response: listOf(StoredRecording),
    summary: 'List the recordings of the connection',
    description: forKeys(
      'The latest start first. `status=failed` shows what could not be downloaded, with the reason.',
    ),
    query: RecordingFilters,
    fails: OF_CONNECTIONS,
  },
  getOwnRecording: {
    ...VIDEO_ROUTES.getRecording,
    response: StoredRecording,
    summary: 'Read a recording of the connection',
    description: forKeys(VIDEO_ROUTES.getRecording.description),
    fails: ofOwn('recording'),
  },
  retryOwnRecording: {
    ...VIDEO_ROUTES.retryRecording,
    summary: 'Fetch a recording of the connection again',
    description: forKeys(VIDEO_ROUTES.retryRecording.description),
    fails: { ...VIDEO_ROUTES.retryRecording.fails, ...ofOwn('recording') },
  },
} as const satisfies Readonly<Record<string, RouteDefinition>>;
