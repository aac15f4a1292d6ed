import { MAX_PARTNER_ID } from '../common/answer-limits.js';
import { Flag, Integer, Nested, NestedList, OneOf, Text, Time } from '../common/fields/decorators.js';
import { between, example, inQuery, max, optional, type TextOptions } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';
import { PageQuery, Pagination } from '../common/pagination.dto.js';
import { DEMO_HAULER_ID } from '../common/demo.js';
import { COMMON_ERRORS, defineApi } from '../common/api-contract.js';

export const VIDEO_STATUSES = ['processing', 'ready', 'failed'] as const;
export type VideoStatus = (typeof VIDEO_STATUSES)[number];

/** Maximum gaps of a clip: an hour in pieces of a few seconds. */
export const MAX_CLIP_GAPS = 1000;
/** Maximum length of a recording: a year. */
export const MAX_DURATION_SECONDS = 31_536_000;

/** Of a caller of ours, whose names are in the keys of tables. */
const IDENTIFIER = between(1, 255);
/** The contract has no limit (section 2.5a), but the URL of a list request has. */
export const MAX_REQUEST_ID_LENGTH = MAX_PARTNER_ID;
/** Of a partner (decision 38). */
const LISTED = between(1, MAX_PARTNER_ID);
const REQUEST_ID = between(1, MAX_REQUEST_ID_LENGTH);
const REQUEST_EXAMPLE = example('019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4e');
const MESSAGE = max(10_000);

const CustomerId = (...options: readonly TextOptions[]) =>
  Text('Customer identifier or name', example(DEMO_HAULER_ID), ...options);
const TruckId = (...options: readonly TextOptions[]) =>
  Text('Truck identifier, as work orders and routing name it', example('TRUCK-7'), ...options);
const CameraId = (...options: readonly TextOptions[]) =>
  Text('Placement (`front`, `rear`, `left`, `right`) or number (`1`, `2`, `3`)', example('front'), ...options);
const END = example('2026-01-31T08:35:00Z');

/** Body of `POST /video-platform/v1/videos/requests` (section 2.5a). */
export class CreateVideoRequest {
  @CustomerId(IDENTIFIER) customerId!: string;
  @TruckId(IDENTIFIER) truckId!: string;
  @CameraId(IDENTIFIER) cameraId!: string;
  @Time('Start of the range') startTime!: Instant;
  @Time('End of the range', END) endTime!: Instant;
}

/** The 202 response to a video request (section 2.5a). */
export class CreateVideoResponse {
  @Flag('Whether the request was accepted') success!: boolean;
  @Text('Identifier for polling', REQUEST_ID, example('019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d')) requestId!: string;
  @OneOf('State of the request', VIDEO_STATUSES) status!: VideoStatus;
  @Text('Explanation of the state', MESSAGE, optional, example('Looking for the recordings')) message?: string;
}

/** Query of `GET /video-platform/v1/videos` (section 4.5). */
export class ListVideosQuery extends PageQuery {
  @CustomerId(IDENTIFIER) customerId!: string;
  @TruckId(IDENTIFIER, optional) truckId?: string;
  @CameraId(IDENTIFIER, optional) cameraId?: string;
  @Text('Clips of this video request only, with its state: used to poll it', IDENTIFIER, optional) requestId?: string;
  @Time('Start of the range', inQuery, optional) startTime?: Instant;
  @Time('End of the range', inQuery, optional) endTime?: Instant;
}

/** Query of `GET /video-platform/v1/videos/continuous` (section 4.6). */
export class ContinuousQuery extends PageQuery {
  @CustomerId(IDENTIFIER) customerId!: string;
  @TruckId(IDENTIFIER) truckId!: string;
  @CameraId(IDENTIFIER, optional) cameraId?: string;
  // A long range, so that the example finds every recording of a sandbox.
  @Time('Start of the range', inQuery, example('2026-01-01T00:00:00Z')) startTime!: Instant;
  @Time('End of the range', inQuery, example('2036-01-01T00:00:00Z')) endTime!: Instant;
}

/** One chunk of a continuous recording (section 2.6). */
export class Recording {
  @Text('Chunk identifier', LISTED, example('019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d')) id!: string;
  @CustomerId(LISTED) customerId!: string;
  @TruckId(LISTED) truckId!: string;
  @CameraId(LISTED) cameraId!: string;
  @Time('Start of the range') startTime!: Instant;
  @Time('End of the range', END) endTime!: Instant;
  @Integer('Length in seconds', max(MAX_DURATION_SECONDS), example(300)) durationSeconds!: number;
  @Text(
    'Address of the file until `expiresAt`, for `GET` without an API key; `Range` and `If-Range` are supported. ' +
      'After `expiresAt` the response is 410, and the list has a new link',
    between(1, 8192),
    { format: 'uri' },
    example('https://video.example.com/files/019a8b7c?signature=4f1c'),
  )
  downloadUrl!: string;
  @Time('When `downloadUrl` expires', optional, example('2026-01-31T16:35:00Z')) expiresAt?: Instant;
}

/** A time within a clip that was not recorded. */
class ClipGap {
  @Time('Start of the range') startTime!: Instant;
  @Time('End of the range', END) endTime!: Instant;
}

/** One on-demand clip: a chunk's fields, and the request that it belongs to (decision 38). */
export class Video extends Recording {
  @Text('The request that the clip belongs to', REQUEST_ID, optional, REQUEST_EXAMPLE) requestId?: string;
  @NestedList(
    'Times within the clip that were not recorded; `durationSeconds` is the length without them',
    ClipGap,
    max(MAX_CLIP_GAPS),
    optional,
  )
  gaps?: ClipGap[];
}

/** State of one request, in the response to a query with `requestId` (decision 40). */
export class VideoRequestState {
  @Text('The request', REQUEST_ID, REQUEST_EXAMPLE) requestId!: string;
  @OneOf('State of the request', VIDEO_STATUSES, example('ready')) status!: VideoStatus;
  @Text('Explanation of the state', MESSAGE, optional, example('Nothing was recorded between 08:30 and 08:35'))
  message?: string;
}

export class VideoList {
  @NestedList('Prepared clips, oldest first', Video) videos!: Video[];
  @Nested('Position of this page in the list', Pagination) pagination!: Pagination;
  @Nested('State of the request in the query', VideoRequestState, optional) request?: VideoRequestState;
}

/** Response of `GET /video-platform/v1/videos` (section 4.5, decision 38). */
export class ListVideosResponse {
  @Flag('Always true here') success!: boolean;
  @Nested('The page', VideoList) data!: VideoList;
}

class RecordingList {
  @NestedList('Recording chunks, oldest first', Recording, optional) recordings?: Recording[];
  @Nested('Position of this page in the list', Pagination, optional) pagination?: Pagination;
}

/** Response of `GET /video-platform/v1/videos/continuous` (section 2.6). */
export class ContinuousResponse {
  @Flag('Always true here') success!: boolean;
  @Nested('The page', RecordingList) data!: RecordingList;
}

const UNKNOWN = { notFound: 'The customer, the truck or the camera is unknown' };
const CODES = ['INVALID_PAYLOAD', 'UNAUTHORIZED', 'INTERNAL_ERROR', 'NOT_FOUND'] as const;
const ERRORS = {
  ...COMMON_ERRORS,
  notFound: 'NOT_FOUND',
  gone: 'NOT_FOUND',
  rangeNotSatisfiable: 'INVALID_PAYLOAD',
} as const;

/** Vision API 1.11.0 (sections 2.5a, 2.6, 4.4 to 4.6): hosted by partners, called by the platform. */
export const VISION_API = defineApi({
  name: 'vision',
  title: 'Vision API',
  version: '1.11.0',
  prefix: '/video-platform/v1',
  keyHeader: 'API-KEY',
  routes: {
    requestVideo: {
      method: 'POST',
      path: '/videos/requests',
      summary: 'Request a clip',
      description:
        'Poll the video list with the `requestId` of the response until the clip is ready. The sandbox has the uploaded ' +
        'recordings; the demo has the ten minutes before its start. A request for any other time ends as `failed`.',
      body: CreateVideoRequest,
      status: 202,
      response: CreateVideoResponse,
      returns: 'The request was accepted',
      fails: UNKNOWN,
    },
    listVideos: {
      method: 'GET',
      path: '/videos',
      summary: 'List prepared clips',
      description: 'The clips that overlap the range, oldest first. With a `requestId`, `data.request` is its state.',
      query: ListVideosQuery,
      status: 200,
      response: ListVideosResponse,
      returns: 'A page of clips',
      fails: UNKNOWN,
    },
    listContinuous: {
      method: 'GET',
      path: '/videos/continuous',
      summary: "List a truck's continuous recordings",
      description: 'The chunks that overlap the range, oldest first, each with its download link.',
      query: ContinuousQuery,
      status: 200,
      response: ContinuousResponse,
      returns: 'A page of recording chunks',
      fails: UNKNOWN,
      plainErrors: true,
    },
  },
  codes: CODES,
  errors: ERRORS,
});

const DOWNLOAD = {
  operation: 'download',
  method: 'GET',
  summary: 'Download a video',
  description: 'By a link of a list. It needs no API key: the signature grants access until it expires.',
  status: 200,
  file: 'video/mp4',
  returns: 'The file',
  role: 'anyone',
  fails: {
    unauthorized: 'The signature of the link is not valid',
    notFound: 'The file was deleted',
    gone: 'The link has expired',
  },
} as const;

/** The files of the reference partner. Lists have their addresses, so no document describes them. */
export const VIDEO_FILES_API = defineApi({
  name: 'vision',
  title: 'Vision files',
  version: '1.11.0',
  prefix: '/media/v1',
  keyHeader: 'API-KEY',
  isHidden: true,
  routes: {
    downloadRecording: { ...DOWNLOAD, path: '/recordings/{id}.mp4' },
    downloadClip: { ...DOWNLOAD, path: '/clips/{id}.mp4' },
  },
  codes: CODES,
  errors: ERRORS,
});

/** The names under which partners send their lists (decision 38). */
export const VIDEO_LISTS = ['videos', 'items', 'recordings'] as const;
