import {
  EnumField,
  InstantField,
  IntegerField,
  NameField,
  TextField,
  UuidField,
} from '../common/fields/scalar-fields.js';
import { TextListField } from '../common/fields/nested-fields.js';
import type { Instant } from '../common/instant.js';
import { CreateVideoRequest, VIDEO_STATUSES, type VideoStatus } from '../vision/vision.dto.js';
import { ListQuery } from './list.dto.js';

/** Size limit of an uploaded recording. */
export const HOSTED_RECORDING_MAX_BYTES = 2 * 1024 ** 3;

const HAULER_ID = '5f0c1f2e-7a3b-4c8d-9e10-112233445566';
const NAME = { max: 255 };

/** The camera of a recording. */
export class RecordedCamera {
  @NameField({ ...NAME, description: 'Customer identifier or name', example: HAULER_ID })
  customerId!: string;

  @NameField({ ...NAME, description: 'Truck identifier', example: 'TRUCK-7' })
  truckId!: string;

  @NameField({ ...NAME, description: 'Camera, by any of its aliases', example: 'front' })
  cameraId!: string;
}

/** The camera and the time of an uploaded recording. */
export class HostedRecordingQuery extends RecordedCamera {
  @InstantField({ description: 'Start of the recording', inQuery: true, example: '2026-01-31T08:30:00Z' })
  startTime!: Instant;

  @InstantField({
    description: 'End of the recording, at most 24 hours later',
    inQuery: true,
    example: '2026-01-31T08:31:00Z',
  })
  endTime!: Instant;
}

export class HostedRecording {
  @UuidField({ description: 'Identifier of the chunk', example: '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d' })
  id!: string;

  @IntegerField({ description: 'Size in bytes', min: 0, max: Number.MAX_SAFE_INTEGER, example: 91205 })
  sizeBytes!: number;

  @TextField({
    description: 'SHA-256 of the bytes, in hex',
    min: 64,
    max: 64,
    example: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  })
  sha256!: string;
}

/** A camera of a truck with its aliases (decision 45). */
export class HostedCamera extends RecordedCamera {
  @NameField({ ...NAME, description: 'Name in responses', example: 'front' })
  declare cameraId: string;

  @TextListField({ description: 'Aliases of the camera', maxLength: 255, max: 100, example: ['1'] })
  aliases!: string[];
}

export class HostedVideoRequestQuery extends ListQuery {
  @EnumField({ description: 'Requests in this state only', values: VIDEO_STATUSES, optional: true })
  status?: VideoStatus;
}

/** A video request of a caller, with its state. */
export class HostedVideoRequest extends CreateVideoRequest {
  @UuidField({ description: 'The `requestId` of the response', example: '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d' })
  id!: string;

  @EnumField({ description: 'State', values: VIDEO_STATUSES, example: 'ready' })
  status!: VideoStatus;

  @TextField({
    description: 'Explanation of the state',
    optional: true,
    max: 10_000,
    example: 'Nothing was recorded in this time',
  })
  message?: string;

  @IntegerField({
    description: 'Attempts to prepare the clip so far; 0 after a success',
    min: 0,
    max: 2_147_483_647,
    example: 0,
  })
  attempts!: number;

  @TextField({
    description: 'Why the last attempt failed, for an admin: partners receive `message`',
    optional: true,
    max: 10_000,
    example: 'The video storage is full: 42991616 bytes are needed, 20971520 are free for videos.',
  })
  lastError?: string;

  @InstantField({ description: 'When it was requested', example: '2026-01-31T09:00:00Z' })
  createdAt!: Instant;

  @InstantField({ description: 'When it became ready or failed', optional: true, example: '2026-01-31T09:00:04Z' })
  finishedAt?: Instant;
}

/** About a million materials. HTTP_BODY_LIMIT does not apply, because one body replaces all data of a hauler. */
export const HOSTED_SITE_DATA_MAX_BYTES = 256 * 1024 * 1024;

/** The hauler in the path of `PUT /admin/v1/hosted/haulers/{haulerId}/site-data`. */
export class HostedHaulerParam {
  @UuidField({ description: 'The hauler whose data is replaced; any id', example: HAULER_ID })
  haulerId!: string;
}

const count = { min: 0, max: Number.MAX_SAFE_INTEGER };

/** The number of a hauler's records on the partner side, inactive ones included. */
export class HostedSiteDataCounts {
  @UuidField({ description: 'The hauler', example: HAULER_ID })
  haulerId!: string;

  @IntegerField({ description: 'Sites', ...count, example: 2 })
  sites!: number;

  @IntegerField({ description: 'Kiosks', ...count, example: 3 })
  kiosks!: number;

  @IntegerField({ description: 'Materials', ...count, example: 12 })
  materials!: number;

  @IntegerField({ description: 'Active records, which callers receive', ...count, example: 16 })
  active!: number;
}
