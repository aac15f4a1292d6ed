import type { Instant } from '../common/instant.js';
import { EnumField, InstantField, IntegerField, TextField, UuidField } from '../common/fields/scalar-fields.js';
import { CONNECTION, ENDINGS, RECORDING_REASON, type RecordingReason, TRUCK } from './recording.dto.js';

/** Which recordings are fetched again: those that failed or expired, unless retention deleted their files. */
export class RetryRecordings {
  @UuidField(CONNECTION)
  connectionId!: string;

  @TextField({ ...TRUCK, optional: true })
  truckId?: string;

  @InstantField({
    description: 'Recordings that start at this time or later',
    optional: true,
    example: '2026-01-31T08:00:00Z',
  })
  from?: Instant;

  @InstantField({
    description: 'Recordings that start before this time',
    optional: true,
    example: '2026-02-01T08:00:00Z',
  })
  to?: Instant;

  @EnumField({ ...RECORDING_REASON, description: 'Recordings that ended for this reason', values: ENDINGS })
  reason?: RecordingReason;
}

export class RetriedRecordings {
  @IntegerField({ description: 'Recordings that are fetched again', min: 0, max: Number.MAX_SAFE_INTEGER, example: 12 })
  matched!: number;
}
