import type { RouteDefinition } from '../common/api-contract.js';
import { IdParam } from './list.dto.js';
import { RecordingQuery, StoredRecording } from './recording.dto.js';
import {
  Coverage,
  CoverageBucket,
  CoverageInterval,
  CoverageQuery,
  CoverageSummary,
  CoverageSummaryQuery,
  FleetCoverageQuery,
  TruckCoverage,
} from './coverage.dto.js';
import { RetriedRecordings, RetryRecordings } from './recording-retry.dto.js';
import { OrderVideoRequest, OrderedVideoRequest, VideoRequest, VideoRequestQuery } from './video-request.dto.js';
import {
  ChangeVideoSubscription,
  CreateVideoSubscription,
  ReadVideoSubscriptionAgain,
  VideoSubscription,
  VideoSubscriptionQuery,
} from './video-subscription.dto.js';
import { VisionFinding, VisionFindingQuery } from './vision-finding.dto.js';
import { create, history, ofOne, page, read } from './route-parts.js';

/** Clips, continuous recordings, their files and their coverage. */
export const VIDEO_ROUTES = {
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
    ...read(VideoRequest, 'request'),
    path: '/video-requests/{id}',
    summary: 'Read a video request',
    description: 'With its parts and the ids of its recordings.',
  },
  retryVideoRequest: {
    method: 'POST',
    path: '/video-requests/{id}/retry',
    summary: 'Try a video request again',
    description:
      'Its parts that failed or expired: the partner is asked again for those that it had not accepted, and for the clips of the others. They have a new deadline. Open parts are tried at once.',
    params: IdParam,
    status: 202,
    response: VideoRequest,
    returns: 'The request',
    fails: { notFound: 'No request has this id', conflict: 'It is stored, or retention has deleted its files' },
  },
  listVideoRequestHistory: history(
    '/video-requests',
    'a video request',
    'How it was submitted, each poll that changed something, download attempts and replaced links.',
  ),
  createVideoSubscription: {
    ...create(VideoSubscription, 'subscription'),
    path: '/video-subscriptions',
    summary: 'Subscribe to the continuous recordings of a truck',
    description: 'From `startTime` on, of one camera or of all. The first read starts at once.',
    body: CreateVideoSubscription,
  },
  listVideoSubscriptions: {
    ...page(VideoSubscription, 'subscriptions'),
    path: '/video-subscriptions',
    summary: 'List video subscriptions',
    description: 'Newest first.',
    query: VideoSubscriptionQuery,
  },
  getVideoSubscription: {
    ...read(VideoSubscription, 'subscription'),
    path: '/video-subscriptions/{id}',
    summary: 'Read a video subscription',
    description: 'With the time up to which its recordings were listed.',
  },
  updateVideoSubscription: {
    ...read(VideoSubscription, 'subscription'),
    method: 'PATCH',
    path: '/video-subscriptions/{id}',
    summary: 'Change a video subscription',
    description: 'Changes its interval, or pauses and resumes it.',
    body: ChangeVideoSubscription,
  },
  readVideoSubscriptionAgain: {
    method: 'POST',
    path: '/video-subscriptions/{id}/read-again',
    summary: 'List the recordings of a time again',
    description:
      'Finds recordings that the partner listed late, in addition to the re-readings by age (`VISION_REREAD`). It starts at once; times that have not ended yet are left out. `lastAskedAt` of the coverage shows when it was done.',
    ...ofOne('subscription'),
    body: ReadVideoSubscriptionAgain,
    status: 202,
    response: VideoSubscription,
    returns: 'The subscription',
  },
  deleteVideoSubscription: {
    method: 'DELETE',
    path: '/video-subscriptions/{id}',
    summary: 'End a video subscription',
    description: 'Listed recordings stay, and the service still downloads them.',
    ...ofOne('subscription'),
    status: 204,
    returns: 'The subscription is deleted',
  },
  listRecordings: {
    ...page(StoredRecording, 'recordings'),
    path: '/recordings',
    summary: 'List recordings',
    description: 'Latest start first.',
    query: RecordingQuery,
  },
  getRecording: {
    ...read(StoredRecording, 'recording'),
    path: '/recordings/{id}',
    summary: 'Read a recording',
    description: 'By its id.',
  },
  retryRecording: {
    method: 'POST',
    path: '/recordings/{id}/retry',
    summary: 'Fetch a recording again',
    description:
      'Of a recording that failed or expired; one that waits is tried at once. The partner lists it again for a new link.',
    params: IdParam,
    status: 202,
    response: StoredRecording,
    returns: 'The recording',
    fails: { notFound: 'No recording has this id', conflict: 'It is stored, or retention has deleted its file' },
  },
  retryRecordings: {
    method: 'POST',
    path: '/recordings/retry',
    summary: 'Fetch recordings of a connection again',
    description:
      'All that failed or expired, of a truck, a time or a reason. Files that retention has deleted stay deleted.',
    body: RetryRecordings,
    status: 202,
    response: RetriedRecordings,
    returns: 'How many',
  },
  getRecordingContent: {
    method: 'GET',
    status: 200,
    params: IdParam,
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
  getCoverageSummary: {
    method: 'GET',
    path: '/coverage/summary',
    summary: 'Read why footage of a truck is missing',
    description:
      'The seconds of each camera over the whole range by state and cause: what the intervals of the coverage add up to.',
    query: CoverageSummaryQuery,
    status: 200,
    response: CoverageSummary,
    returns: 'The cameras',
  },
  listFleetCoverage: {
    ...page(TruckCoverage, 'trucks'),
    path: '/coverage/fleet',
    summary: 'Read the recording coverage of a fleet',
    description:
      'One row per truck with its days, the truck with the most lost footage first, then those with an absent camera. Includes the trucks with a recording or a subscription in this time.',
    query: FleetCoverageQuery,
  },
  listVisionFindings: {
    ...page(VisionFinding, 'findings'),
    path: '/vision-findings',
    summary: "List the errors in partners' video lists",
    description:
      'By the time they were first seen, newest first. The service skipped the listed elements and stored the others.',
    query: VisionFindingQuery,
  },
} as const satisfies Readonly<Record<string, RouteDefinition>>;
