import { MAX_PARTNER_ID } from '../common/answer-limits.js';
import {
  BooleanField,
  EnumField,
  InstantField,
  IntegerField,
  RangeField,
  TextField,
  type TimeRange,
  UuidField,
} from '../common/fields/scalar-fields.js';
import { TextListField } from '../common/fields/nested-fields.js';
import type { Instant } from '../common/instant.js';
import { ListQuery } from './list.dto.js';

const ID = '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d';
export const CONNECTION = {
  description: 'Vision connection of the recording',
  example: '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4e',
};
export const TRUCK = { description: 'Truck, as the partner names it', min: 1, max: MAX_PARTNER_ID, example: 'TRUCK-7' };
export const CAMERA = { description: 'Camera, as the partner names it', min: 1, max: MAX_PARTNER_ID, example: 'front' };
export const ANY_CAMERA = {
  ...CAMERA,
  description: 'Camera, by placement or number; either matches after the partner has used both',
};

/** Retention has deleted the file. */
export const FILE_REMOVED = 'fileRemoved';
export const REASON_CODE = {
  description:
    'Reason as a code: `fileRemoved` after the retention of the hauler; request a clip of the range to get it again',
  values: [FILE_REMOVED],
  optional: true,
  example: FILE_REMOVED,
};

/** Why a download ended. A final state has a way back: a new listing, or `retry`. */
export const ENDINGS = [
  'notListed',
  'linkRefused',
  'unreachable',
  'invalidFile',
  'addressRefused',
  'tooLarge',
  'interrupted',
] as const;
export type RecordingReason = (typeof ENDINGS)[number];

export const RECORDING_REASON = {
  description:
    'Reason of a final state as a code: the partner no longer lists it; its link was refused; its host was not reached; its file was no whole MP4; the address may not be called; the file is too large; the process ended at each try; `fileRemoved` after the retention of the hauler',
  values: [...ENDINGS, FILE_REMOVED],
  optional: true,
  example: 'linkRefused',
};

const RECORDING_SOURCES = ['on-demand', 'continuous'] as const;
const RECORDING_STATUSES = ['available', 'downloading', 'stored', 'expired', 'failed'] as const;
type RecordingSource = (typeof RECORDING_SOURCES)[number];
type RecordingStatus = (typeof RECORDING_STATUSES)[number];

const SOURCE = {
  description: 'On-demand clip or continuous recording',
  values: RECORDING_SOURCES,
  example: 'continuous',
};
export const OVERLAPS = {
  description:
    'that share some time with this one: two times with a comma between, the end excluded. `from` and `to` ask for their start',
  optional: true,
  example: '2026-01-31T08:30:00Z,2026-01-31T09:30:00Z',
};
const STATUS = { description: 'State', values: RECORDING_STATUSES, example: 'stored' };

/** The filters that the partner of a connection has too. */
export class RecordingFilters extends ListQuery {
  @TextField({ ...TRUCK, optional: true })
  truckId?: string;

  @TextField({ ...ANY_CAMERA, optional: true })
  cameraId?: string;

  @EnumField({ ...SOURCE, optional: true })
  source?: RecordingSource;

  @EnumField({ ...STATUS, optional: true })
  status?: RecordingStatus;

  @InstantField({
    description: 'Recordings that start at this time or later',
    optional: true,
    inQuery: true,
  })
  from?: Instant;

  @InstantField({ description: 'Recordings that start before this time', optional: true, inQuery: true })
  to?: Instant;

  @RangeField({ ...OVERLAPS, description: `Recordings ${OVERLAPS.description}` })
  overlaps?: TimeRange;
}

export class RecordingQuery extends RecordingFilters {
  @UuidField({ description: 'Recordings of this hauler only', optional: true, example: ID })
  haulerId?: string;

  @UuidField({ ...CONNECTION, optional: true })
  connectionId?: string;
}

/** A preview has this much of the begin and of the end of a file: enough for a first picture (decision 72). */
export const PREVIEW_BYTES = 512 * 1_024;

export class RecordingContentQuery {
  @BooleanField({ description: 'Send it as a file to save', optional: true, inQuery: true })
  download?: boolean;

  @EnumField({
    description: 'Send the first and last 512 KiB alone, for a picture; the name `preview` is enough. It is no view',
    values: ['true', 'false', ''],
    optional: true,
    example: 'true',
  })
  preview?: 'true' | 'false' | '';
}

export class StoredRecording {
  @UuidField({ description: 'Id of the recording', example: ID })
  id!: string;

  @UuidField({ description: 'Hauler that it belongs to', example: ID })
  haulerId!: string;

  @UuidField(CONNECTION)
  connectionId!: string;

  @EnumField(SOURCE)
  source!: RecordingSource;

  @TextField({ description: "The partner's id of the recording", max: MAX_PARTNER_ID, example: 'chunk-4711' })
  partnerRecordingId!: string;

  @TextField({ description: 'Customer, as the partner names it', max: MAX_PARTNER_ID, example: ID })
  customerId!: string;

  @TextField(TRUCK)
  truckId!: string;

  @TextField(CAMERA)
  cameraId!: string;

  @InstantField({ description: 'Start of the recorded time', example: '2026-01-31T08:30:00Z' })
  startTime!: string;

  @InstantField({ description: 'End of the recorded time', example: '2026-01-31T08:35:00Z' })
  endTime!: string;

  @IntegerField({ description: 'Length in seconds', min: 0, max: 31_536_000, example: 300 })
  durationSeconds!: number;

  @EnumField(STATUS)
  status!: RecordingStatus;

  @TextField({ description: 'Reason for the state', max: 10_000, optional: true })
  reason?: string;

  @EnumField(RECORDING_REASON)
  reasonCode?: RecordingReason | typeof FILE_REMOVED;

  @InstantField({ description: 'When its download link expires', optional: true, example: '2026-01-31T16:35:00Z' })
  expiresAt?: string;

  @IntegerField({ description: 'Bytes', min: 0, max: Number.MAX_SAFE_INTEGER, optional: true, example: 5_242_880 })
  sizeBytes?: number;

  @TextField({ description: 'SHA-256 of the bytes, hexadecimal', max: 64, optional: true })
  sha256?: string;

  @InstantField({ description: 'When it was first listed', example: '2026-01-31T08:36:00Z' })
  createdAt!: string;

  @InstantField({ description: 'When its state last changed', example: '2026-01-31T08:37:00Z' })
  updatedAt!: string;
}

/** A recording as an admin sees it: a partner does not learn of holds. */
export class AdminRecording extends StoredRecording {
  @TextListField({
    description: 'Active holds that keep it, by their ids',
    maxLength: 36,
    example: [],
  })
  holdIds!: string[];
}
