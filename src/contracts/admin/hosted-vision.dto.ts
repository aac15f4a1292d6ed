import { InstantField } from '../common/fields/instant-field.js';
import { TextListField } from '../common/fields/list-fields.js';
import { IntegerField } from '../common/fields/number-fields.js';
import { EnumField, NameField, TextField, UuidField } from '../common/fields/text-fields.js';
import type { Instant } from '../common/instant.js';
import { PageQuery } from '../common/pagination.dto.js';
import { CreateVideoRequest, VIDEO_STATUSES, type VideoStatus } from '../vision/vision.dto.js';

/** Largest recording that is taken, in bytes. */
export const HOSTED_RECORDING_MAX_BYTES = 2 * 1024 ** 3;

const NAME = { max: 255 };

/** Whose camera recorded. */
export class RecordedCamera {
  @NameField({ ...NAME, description: 'Customer identifier or name', example: '5f0c1f2e-7a3b-4c8d-9e10-112233445566' })
  customerId!: string;

  @NameField({ ...NAME, description: 'Truck identifier', example: 'TRUCK-7' })
  truckId!: string;

  @NameField({ ...NAME, description: 'Camera, by any of its names', example: 'front' })
  cameraId!: string;
}

/** Query of `POST /admin/v1/hosted/recordings`: what was recorded, by which camera, when. */
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

/** A camera of a truck with the other names it is known by (decision 45). */
export class HostedCamera {
  @NameField({ ...NAME, description: 'Customer identifier or name', example: '5f0c1f2e-7a3b-4c8d-9e10-112233445566' })
  customerId!: string;

  @NameField({ ...NAME, description: 'Truck identifier', example: 'TRUCK-7' })
  truckId!: string;

  @NameField({ ...NAME, description: 'The name that answers use', example: 'front' })
  cameraId!: string;

  @TextListField({ description: 'Its other names', maxLength: 255, max: 100, example: ['1'] })
  aliases!: string[];
}

export class HostedVideoRequestQuery extends PageQuery {
  @EnumField({ description: 'Only requests in this state', values: VIDEO_STATUSES, optional: true })
  status?: VideoStatus;
}

/** What a partner's caller has asked of us, and what came of it. */
export class HostedVideoRequest extends CreateVideoRequest {
  @UuidField({ description: 'The `requestId` that was answered', example: '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d' })
  id!: string;

  @EnumField({ description: 'State', values: VIDEO_STATUSES, example: 'ready' })
  status!: VideoStatus;

  @TextField({
    description: 'The state in words',
    optional: true,
    max: 10_000,
    example: 'Nothing was recorded in this time',
  })
  message?: string;

  @InstantField({ description: 'When it was asked', example: '2026-01-31T09:00:00Z' })
  createdAt!: Instant;

  @InstantField({ description: 'When it became ready or failed', optional: true, example: '2026-01-31T09:00:04Z' })
  finishedAt?: Instant;
}
