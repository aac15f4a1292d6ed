import { MAX_PARTNER_ID } from '../common/answer-limits.js';
import {
  Integer,
  Name,
  NestedList,
  OneOf,
  Period,
  Text,
  TextList,
  Time,
  type TimeRange,
  Uuid,
} from '../common/fields/decorators.js';
import { example, max, min, optional } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';
import { FILE_REMOVED } from './recordings.routes.js';
import { ListQuery } from './list.dto.js';
import {
  CameraId,
  ConnectionId,
  CustomerId,
  EndTime,
  HaulerId,
  RequestedTruckId,
  StartTime,
  TruckId,
} from './fields.js';
import { VIDEO_REQUEST_STATUSES, type VideoRequestStatus } from './footage.values.js';
import { type AdminRoutes, change, FOR_OPERATORS, FOR_VIEWERS, history, list, one, route } from './route-helpers.js';

const ID = '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d';

export class OrderVideoRequest {
  @ConnectionId() connectionId!: string;
  @RequestedTruckId() truckId!: string;
  @Name('Camera: placement or number', max(MAX_PARTNER_ID), example('front')) cameraId!: string;
  @StartTime() startTime!: Instant;
  @EndTime() endTime!: Instant;
}

export class OrderedVideoRequest {
  @Uuid('Id of the request') id!: string;
  @OneOf('State', VIDEO_REQUEST_STATUSES) status!: VideoRequestStatus;
}

export class VideoRequestQuery extends ListQuery {
  @Uuid('Requests of this hauler only', optional) haulerId?: string;
  @ConnectionId(optional) connectionId?: string;
  @RequestedTruckId(optional) truckId?: string;
  @OneOf('State', VIDEO_REQUEST_STATUSES, optional) status?: VideoRequestStatus;
  @Period('Requests for a range that shares some time with this one: two times with a comma between', optional)
  overlaps?: TimeRange;
}

/** A range that is requested, and how far it is. */
class RequestedRange {
  @StartTime() startTime!: string;
  @EndTime() endTime!: string;
  @OneOf('State', VIDEO_REQUEST_STATUSES, example('processing')) status!: VideoRequestStatus;
  @Text('Reason for the state, or message of the partner', optional) reason?: string;
  @OneOf(
    'Reason as a code: `fileRemoved` after the retention of the hauler; request a clip of the range to get it again',
    [FILE_REMOVED],
    optional,
  )
  reasonCode?: typeof FILE_REMOVED;
  @TextList('The clips', example([ID])) recordingIds!: string[];
}

/** One part of a request: the range of one request to the partner (decision 42). */
export class VideoRequestPart extends RequestedRange {
  @Integer('Position in the request, from 1', min(1), example(1)) number!: number;
  @Text("The partner's id of the request", optional, example('req-4711')) partnerRequestId?: string;
}

export class VideoRequest extends RequestedRange {
  @Uuid('Id of the request') id!: string;
  @HaulerId() haulerId!: string;
  @ConnectionId() connectionId!: string;
  @CustomerId() customerId!: string;
  @TruckId() truckId!: string;
  @CameraId() cameraId!: string;
  @Text("The partner's id of a request with a single part", optional, example('req-4711')) partnerRequestId?: string;
  @NestedList('The parts of the request', VideoRequestPart) parts!: VideoRequestPart[];
  @Time('When the request expires if the partner has not delivered') deadline!: string;
  @Time('When it was created') createdAt!: string;
  @Text('Who requested it, as the action log names them; absent of older requests', optional, example('console'))
  createdBy?: string;
  @Time('When its state last changed') updatedAt!: string;
}

/** Requests for on-demand clips. */
export const VIDEO_REQUEST_ROUTES = {
  createVideoRequest: route(FOR_OPERATORS, 'POST', '/video-requests', {
    summary: 'Request on-demand video',
    description:
      'The service requests the clip from the partner and downloads it. It splits a long range into several parts.',
    body: OrderVideoRequest,
    response: OrderedVideoRequest,
    status: 202,
    fails: { conflict: 'Footage of this range was erased' },
  }),
  listVideoRequests: list(FOR_VIEWERS, '/video-requests', VideoRequest, VideoRequestQuery, {
    summary: 'List video requests',
    description: 'Newest first.',
  }),
  getVideoRequest: one(FOR_VIEWERS, '/video-requests/{id}', 'request', VideoRequest, {
    summary: 'Read a video request',
    description: 'With its parts and the ids of its recordings.',
  }),
  retryVideoRequest: change(FOR_OPERATORS, 'POST', '/video-requests/{id}/retry', 'request', {
    summary: 'Try a video request again',
    description:
      'Its parts that failed or expired: the partner is asked again for those that it had not accepted, and for the clips of the others. They have a new deadline. Open parts are tried at once.',
    response: VideoRequest,
    status: 202,
    fails: { conflict: 'It is stored, or retention has deleted its files' },
  }),
  listVideoRequestHistory: history(
    '/video-requests/{id}/history',
    'a video request',
    'How it was submitted, each poll that changed something, download attempts and replaced links.',
  ),
} as const satisfies AdminRoutes;
