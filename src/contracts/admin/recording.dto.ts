import { Documented } from '../common/fields/documented.js';
import {
  EnumField,
  InstantField,
  IntegerField,
  NumberField,
  TextField,
  UuidField,
} from '../common/fields/scalar-fields.js';
import type { Instant } from '../common/instant.js';
import { ListQuery } from './list.dto.js';

const ID = '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d';
export const CONNECTION = {
  description: 'Vision connection of the recording',
  example: '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4e',
};
export const TRUCK = { description: 'Truck, as the partner names it', min: 1, max: 255, example: 'TRUCK-7' };
const CAMERA = { description: 'Camera, as the partner names it', min: 1, max: 255, example: 'front' };
const ANY_CAMERA = {
  ...CAMERA,
  description: 'Camera, by placement or number; either matches after the partner has used both',
};

/** Retention has deleted the file. */
export const FILE_REMOVED = 'fileRemoved';
export const REASON_CODE = {
  description:
    'Reason as a code: `fileRemoved` after `VIDEO_RETENTION_DAYS`; request a clip of the range to get it again',
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
    'Reason of a final state as a code: the partner no longer lists it; its link was refused; its host was not reached; its file was no whole MP4; the address may not be called; the file is too large; the process ended at each try; `fileRemoved` after `VIDEO_RETENTION_DAYS`',
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
}

export class RecordingQuery extends RecordingFilters {
  @UuidField({ ...CONNECTION, optional: true })
  connectionId?: string;
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

  @TextField({ description: "The partner's id of the recording", max: 255, example: 'chunk-4711' })
  partnerRecordingId!: string;

  @TextField({ description: 'Customer, as the partner names it', max: 255, example: ID })
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

export class CoverageQuery {
  @UuidField(CONNECTION)
  connectionId!: string;

  @TextField(TRUCK)
  truckId!: string;

  @TextField({ ...ANY_CAMERA, optional: true })
  cameraId?: string;

  @InstantField({ description: 'Start of the range', inQuery: true, example: '2026-01-31T00:00:00Z' })
  from!: Instant;

  @InstantField({
    description: 'End of the range, at most 31 days later',
    inQuery: true,
    example: '2026-02-01T00:00:00Z',
  })
  to!: Instant;

  @IntegerField({
    description:
      'Length of a bucket in seconds, from `from` on; without it intervals are returned, of at most 50,000 recordings',
    min: 1,
    max: 31 * 86_400,
    optional: true,
    inQuery: true,
  })
  resolution?: number;
}

/** Why a time has no stored file. One meaning for lanes, fleet, report and CSV. */
export const COVERAGE_CAUSES = [
  'waiting',
  ...ENDINGS,
  FILE_REMOVED,
  'gap',
  'notRecorded',
  'unread',
  'notReadYet',
  'notSubscribed',
  'connectionDeleted',
  'future',
  'unknown',
] as const;
export type CoverageCause = (typeof COVERAGE_CAUSES)[number];

/** Who can do something about it: nobody where the truck was parked, or where the time is still to come. */
export const COVERAGE_SIDES = ['partner', 'platform', 'network', 'parked', 'future', 'unknown'] as const;
export type CoverageSide = (typeof COVERAGE_SIDES)[number];

/** An interval of one camera in one state (decision 49). */
export class CoverageInterval {
  @TextField({ ...CAMERA, optional: true })
  cameraId?: string;

  @InstantField({ description: 'Start', example: '2026-01-31T08:30:00Z' })
  startTime!: string;

  @InstantField({ description: 'End', example: '2026-01-31T08:35:00Z' })
  endTime!: string;

  @EnumField({
    description: 'State',
    values: ['stored', 'available', 'missing', 'expired'],
    example: 'stored',
  })
  state!: 'stored' | 'available' | 'missing' | 'expired';

  @UuidField({ description: 'The recording', optional: true, example: ID })
  recordingId?: string;

  @TextField({ description: 'Why no file is stored', max: 10_000, optional: true })
  reason?: string;

  @EnumField({
    description:
      'The same as a code, unless it is stored. `waiting`: not downloaded yet; the codes of a recording that failed or expired; `gap`: a clip without this part; `notRecorded`: the partner was asked and lists nothing; `unread`: its list could not be read; `notReadYet`; `notSubscribed`; `connectionDeleted`; `future`: still to come',
    values: COVERAGE_CAUSES,
    optional: true,
    example: 'linkRefused',
  })
  cause?: CoverageCause;

  @EnumField({
    description: 'Whose part it is; `parked` where the truck recorded nothing',
    values: COVERAGE_SIDES,
    optional: true,
    example: 'partner',
  })
  side?: CoverageSide;

  @InstantField({
    description: 'When the partner was last asked for the whole of it and listed no recording',
    optional: true,
    example: '2026-01-31T09:00:00Z',
  })
  lastAskedAt?: string;
}

const seconds = (description: string) =>
  NumberField({ description: `Seconds ${description}. To the millisecond`, example: 3600 });

class CoverageSeconds {
  @seconds('that are stored')
  stored!: number;

  @seconds('that are available at the partner and not stored yet')
  available!: number;

  @seconds('that expired before they could be fetched')
  expired!: number;

  @seconds('without a recording, or with one that failed')
  missing!: number;

  @seconds('of these with a recording that failed')
  failed!: number;
}

/** The seconds of one camera within one bucket. Where recordings overlap, the better state counts. */
export class CoverageBucket extends CoverageSeconds {
  @TextField({ ...CAMERA, optional: true })
  cameraId?: string;

  @InstantField({ description: 'Start', example: '2026-01-31T08:00:00Z' })
  startTime!: string;

  @InstantField({ description: 'End', example: '2026-01-31T09:00:00Z' })
  endTime!: string;
}

export class Coverage {
  @Documented({
    description: 'By camera and time, without gaps: buckets if the query has a `resolution`, else intervals',
    type: 'array',
    items: {
      oneOf: [{ $ref: '#/components/schemas/CoverageInterval' }, { $ref: '#/components/schemas/CoverageBucket' }],
    },
  })
  data!: CoverageInterval[] | CoverageBucket[];
}

export class FleetCoverageQuery extends ListQuery {
  @UuidField({ description: 'Hauler of the trucks', example: ID })
  haulerId!: string;

  @InstantField({ description: 'Start of the range', inQuery: true, example: '2026-01-01T00:00:00Z' })
  from!: Instant;

  @InstantField({
    description: 'End of the range, at most 31 days later',
    inQuery: true,
    example: '2026-02-01T00:00:00Z',
  })
  to!: Instant;
}

/** The seconds of all cameras of one truck on one day (UTC). */
export class TruckDayCoverage extends CoverageSeconds {
  @UuidField(CONNECTION)
  connectionId!: string;

  @TextField(TRUCK)
  truckId!: string;

  @TextField({ description: 'Day (UTC)', max: 10, example: '2026-01-31' })
  day!: string;

  @IntegerField({ description: 'Cameras of the truck, at least 1', min: 1, max: 1000, example: 2 })
  cameras!: number;
}
