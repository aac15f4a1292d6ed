import type { Instant } from '../common/instant.js';
import { Integer, OneOf, Time } from '../common/fields/decorators.js';
import { example, optional } from '../common/fields/options.js';
import { ENDINGS, type RecordingReason } from './recording.dto.js';
import { ConnectionId, TruckId } from './fields.js';

/** Which recordings are fetched again: those that failed or expired, unless retention deleted their files. */
export class RetryRecordings {
  @ConnectionId() connectionId!: string;
  @TruckId(optional) truckId?: string;
  @Time('Recordings that start at this time or later', optional, example('2026-01-31T08:00:00Z')) from?: Instant;
  @Time('Recordings that start before this time', optional, example('2026-02-01T08:00:00Z')) to?: Instant;
  @OneOf('Recordings that ended for this reason', ENDINGS, optional, example('linkRefused')) reason?: RecordingReason;
}

export class RetriedRecordings {
  @Integer('Recordings that are fetched again', example(12)) matched!: number;
}
