import { MAX_PARTNER_ID } from '../common/answer-limits.js';
import { BooleanField, EnumField, InstantField, IntegerField, TextField } from '../common/fields/scalar-fields.js';
import { ArrayField, ObjectField } from '../common/fields/nested-fields.js';
import type { Instant } from '../common/instant.js';
import { PageQuery, Pagination } from '../common/pagination.dto.js';

export const VIDEO_STATUSES = ['processing', 'ready', 'failed'] as const;
export type VideoStatus = (typeof VIDEO_STATUSES)[number];

/** Maximum gaps of a clip: an hour in pieces of a few seconds. */
export const MAX_CLIP_GAPS = 1000;
/** Maximum length of a recording: a year. */
export const MAX_DURATION_SECONDS = 31_536_000;

/** Of a caller of ours, whose names are in the keys of tables. */
const IDENTIFIER = { min: 1, max: 255 };
/** Of a partner (decision 38). */
const LISTED = { min: 1, max: MAX_PARTNER_ID };
/** The contract has no limit (section 2.5a), but the URL of a list request has. */
export const MAX_REQUEST_ID_LENGTH = MAX_PARTNER_ID;
const REQUEST_ID = { min: 1, max: MAX_REQUEST_ID_LENGTH };
const CUSTOMER = {
  ...IDENTIFIER,
  description: 'Customer identifier or name',
  example: '5f0c1f2e-7a3b-4c8d-9e10-112233445566',
};
const TRUCK = {
  ...IDENTIFIER,
  description: 'Truck identifier, as work orders and routing name it',
  example: 'TRUCK-7',
};
const CAMERA = {
  ...IDENTIFIER,
  description: 'Placement (`front`, `rear`, `left`, `right`) or number (`1`, `2`, `3`)',
  example: 'front',
};
const START = { description: 'Start of the range', example: '2026-01-31T08:30:00Z' };
const END = { description: 'End of the range', example: '2026-01-31T08:35:00Z' };

/** Body of `POST /video-platform/v1/videos/requests` (section 2.5a). */
export class CreateVideoRequest {
  @TextField(CUSTOMER)
  customerId!: string;

  @TextField(TRUCK)
  truckId!: string;

  @TextField(CAMERA)
  cameraId!: string;

  @InstantField(START)
  startTime!: Instant;

  @InstantField(END)
  endTime!: Instant;
}

/** The 202 response to a video request (section 2.5a). */
export class CreateVideoResponse {
  @BooleanField({ description: 'Whether the request was accepted', example: true })
  success!: boolean;

  @TextField({ ...REQUEST_ID, description: 'Identifier for polling', example: '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d' })
  requestId!: string;

  @EnumField({ description: 'State of the request', values: VIDEO_STATUSES, example: 'processing' })
  status!: VideoStatus;

  @TextField({
    description: 'Explanation of the state',
    optional: true,
    max: 10_000,
    example: 'Looking for the recordings',
  })
  message?: string;
}

/** Query of `GET /video-platform/v1/videos` (section 4.5). */
export class ListVideosQuery extends PageQuery {
  @TextField(CUSTOMER)
  customerId!: string;

  @TextField({ ...TRUCK, optional: true })
  truckId?: string;

  @TextField({ ...CAMERA, optional: true })
  cameraId?: string;

  @TextField({
    ...IDENTIFIER,
    description: 'Clips of this video request only, with its state: used to poll it',
    optional: true,
  })
  requestId?: string;

  @InstantField({ ...START, optional: true, inQuery: true })
  startTime?: Instant;

  @InstantField({ ...END, optional: true, inQuery: true })
  endTime?: Instant;
}

/** Query of `GET /video-platform/v1/videos/continuous` (section 4.6). */
export class ContinuousQuery extends PageQuery {
  @TextField(CUSTOMER)
  customerId!: string;

  @TextField(TRUCK)
  truckId!: string;

  @TextField({ ...CAMERA, optional: true })
  cameraId?: string;

  @InstantField({ ...START, inQuery: true, example: '2026-01-01T00:00:00Z' })
  startTime!: Instant;

  // A long range, so that the example finds every recording of a sandbox.
  @InstantField({ ...END, inQuery: true, example: '2036-01-01T00:00:00Z' })
  endTime!: Instant;
}

/** One chunk of a continuous recording (section 2.6). */
export class Recording {
  @TextField({ ...LISTED, description: 'Chunk identifier', example: '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d' })
  id!: string;

  @TextField({ ...CUSTOMER, ...LISTED })
  customerId!: string;

  @TextField({ ...TRUCK, ...LISTED })
  truckId!: string;

  @TextField({ ...CAMERA, ...LISTED })
  cameraId!: string;

  @InstantField(START)
  startTime!: Instant;

  @InstantField(END)
  endTime!: Instant;

  @IntegerField({ description: 'Length in seconds', min: 0, max: MAX_DURATION_SECONDS, example: 300 })
  durationSeconds!: number;

  @TextField({
    description:
      'Address of the file until `expiresAt`, for `GET` without an API key; `Range` and `If-Range` are supported. ' +
      'After `expiresAt` the response is 410, and the list has a new link',
    min: 1,
    max: 8192,
    format: 'uri',
    example: 'https://video.example.com/files/019a8b7c?signature=4f1c',
  })
  downloadUrl!: string;

  @InstantField({ description: 'When `downloadUrl` expires', optional: true, example: '2026-01-31T16:35:00Z' })
  expiresAt?: Instant;
}

/** A time within a clip that was not recorded. */
export class ClipGap {
  @InstantField(START)
  startTime!: Instant;

  @InstantField(END)
  endTime!: Instant;
}

/** One on-demand clip: a chunk's fields, and the request that it belongs to (decision 38). */
export class Video extends Recording {
  @TextField({
    ...REQUEST_ID,
    description: 'The request that the clip belongs to',
    optional: true,
    example: '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4e',
  })
  requestId?: string;

  @ArrayField(() => ClipGap, {
    description: 'Times within the clip that were not recorded; `durationSeconds` is the length without them',
    optional: true,
    max: MAX_CLIP_GAPS,
  })
  gaps?: ClipGap[];
}

/** State of one request, in the response to a query with `requestId` (decision 40). */
export class VideoRequestState {
  @TextField({ ...REQUEST_ID, description: 'The request', example: '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4e' })
  requestId!: string;

  @EnumField({ description: 'State of the request', values: VIDEO_STATUSES, example: 'ready' })
  status!: VideoStatus;

  @TextField({
    description: 'Explanation of the state',
    optional: true,
    max: 10_000,
    example: 'Nothing was recorded between 08:30 and 08:35',
  })
  message?: string;
}

export class VideoList {
  @ArrayField(() => Video, { description: 'Prepared clips, oldest first' })
  videos!: Video[];

  @ObjectField(() => Pagination, { description: 'Position of this page in the list' })
  pagination!: Pagination;

  @ObjectField(() => VideoRequestState, { description: 'State of the request in the query', optional: true })
  request?: VideoRequestState;
}

/** Response of `GET /video-platform/v1/videos` (section 4.5, decision 38). */
export class ListVideosResponse {
  @BooleanField({ description: 'Always true here', example: true })
  success!: boolean;

  @ObjectField(() => VideoList, { description: 'The page' })
  data!: VideoList;
}

export class RecordingList {
  @ArrayField(() => Recording, { description: 'Recording chunks, oldest first', optional: true })
  recordings?: Recording[];

  @ObjectField(() => Pagination, { description: 'Position of this page in the list', optional: true })
  pagination?: Pagination;
}

/** Response of `GET /video-platform/v1/videos/continuous` (section 2.6). */
export class ContinuousResponse {
  @BooleanField({ description: 'Always true here', example: true })
  success!: boolean;

  @ObjectField(() => RecordingList, { description: 'The page' })
  data!: RecordingList;
}
