import { MAX_PARTNER_ID } from '../common/answer-limits.js';
import {
  EnumField,
  InstantField,
  IntegerField,
  NameField,
  RangeField,
  TextField,
  type TimeRange,
  UuidField,
} from '../common/fields/scalar-fields.js';
import { ArrayField, TextListField } from '../common/fields/nested-fields.js';
import type { Instant } from '../common/instant.js';
import { type FILE_REMOVED, OVERLAPS, REASON_CODE } from './recording.dto.js';
import { MAX_REQUEST_ID_LENGTH } from '../vision/vision.dto.js';
import { ListQuery } from './list.dto.js';

const ID = '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d';
const CONNECTION = { description: 'Vision connection to the partner', example: '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4e' };
const TRUCK = { description: 'Truck identifier of work orders and routing', max: MAX_PARTNER_ID, example: 'TRUCK-7' };
const CAMERA = { description: 'Camera: placement or number', max: MAX_PARTNER_ID, example: 'front' };
const START = { description: 'Start of the range', example: '2026-01-31T08:30:00Z' };
const END = { description: 'End of the range', example: '2026-01-31T08:35:00Z' };
const REASON = { description: 'Reason for the state, or message of the partner', max: 10_000, optional: true };

export const VIDEO_REQUEST_STATUSES = [
  'submitting',
  'processing',
  'ready',
  'downloading',
  'stored',
  'failed',
  'expired',
] as const;
type VideoRequestStatus = (typeof VIDEO_REQUEST_STATUSES)[number];

const STATUS = { description: 'State', values: VIDEO_REQUEST_STATUSES, example: 'processing' };
const PARTNER_ID = {
  description: "The partner's id of the request",
  max: MAX_REQUEST_ID_LENGTH,
  optional: true,
  example: 'req-4711',
};
const MAX_PARTS = 1_000;
/** The service downloads at most this many clips of one part. */
const RECORDING_IDS = { description: 'The clips', maxLength: 36, example: [ID] };

export class OrderVideoRequest {
  @UuidField(CONNECTION)
  connectionId!: string;

  @NameField(TRUCK)
  truckId!: string;

  @NameField(CAMERA)
  cameraId!: string;

  @InstantField(START)
  startTime!: Instant;

  @InstantField(END)
  endTime!: Instant;
}

export class OrderedVideoRequest {
  @UuidField({ description: 'Id of the request', example: ID })
  id!: string;

  @EnumField({ ...STATUS, example: 'submitting' })
  status!: VideoRequestStatus;
}

export class VideoRequestQuery extends ListQuery {
  @UuidField({ description: 'Requests of this hauler only', optional: true, example: ID })
  haulerId?: string;

  @UuidField({ ...CONNECTION, optional: true })
  connectionId?: string;

  @NameField({ ...TRUCK, optional: true })
  truckId?: string;

  @EnumField({ ...STATUS, optional: true })
  status?: VideoRequestStatus;

  @RangeField({
    ...OVERLAPS,
    description: 'Requests for a range that shares some time with this one: two times with a comma between',
  })
  overlaps?: TimeRange;
}

/** One part of a request: the range of one request to the partner (decision 42). */
export class VideoRequestPart {
  @IntegerField({ description: 'Position in the request, from 1', min: 1, max: MAX_PARTS, example: 1 })
  number!: number;

  @InstantField(START)
  startTime!: string;

  @InstantField(END)
  endTime!: string;

  @EnumField(STATUS)
  status!: VideoRequestStatus;

  @TextField(REASON)
  reason?: string;

  @EnumField(REASON_CODE)
  reasonCode?: typeof FILE_REMOVED;

  @TextField(PARTNER_ID)
  partnerRequestId?: string;

  @TextListField(RECORDING_IDS)
  recordingIds!: string[];
}

export class VideoRequest {
  @UuidField({ description: 'Id of the request', example: ID })
  id!: string;

  @UuidField({ description: 'Hauler that it belongs to', example: ID })
  haulerId!: string;

  @UuidField(CONNECTION)
  connectionId!: string;

  @TextField({ description: 'Customer, as the partner names it', max: MAX_PARTNER_ID, example: ID })
  customerId!: string;

  @NameField(TRUCK)
  truckId!: string;

  @NameField(CAMERA)
  cameraId!: string;

  @InstantField(START)
  startTime!: string;

  @InstantField(END)
  endTime!: string;

  @EnumField(STATUS)
  status!: VideoRequestStatus;

  @TextField(REASON)
  reason?: string;

  @EnumField(REASON_CODE)
  reasonCode?: typeof FILE_REMOVED;

  @TextField({ ...PARTNER_ID, description: "The partner's id of a request with a single part" })
  partnerRequestId?: string;

  @ArrayField(() => VideoRequestPart, { description: 'The parts of the request', max: MAX_PARTS })
  parts!: VideoRequestPart[];

  @TextListField(RECORDING_IDS)
  recordingIds!: string[];

  @InstantField({
    description: 'When the request expires if the partner has not delivered',
    example: '2026-02-01T08:30:00Z',
  })
  deadline!: string;

  @InstantField({ description: 'When it was created', example: '2026-01-31T09:00:00Z' })
  createdAt!: string;

  @InstantField({ description: 'When its state last changed', example: '2026-01-31T09:02:00Z' })
  updatedAt!: string;
}
