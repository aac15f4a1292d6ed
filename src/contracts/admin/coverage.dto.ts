import { MAX_PARTNER_ID } from '../common/answer-limits.js';
import { Documented } from '../common/fields/documented.js';
import { ArrayField, TextListField } from '../common/fields/nested-fields.js';
import {
  BooleanField,
  EnumField,
  InstantField,
  IntegerField,
  NumberField,
  TextField,
  UuidField,
} from '../common/fields/scalar-fields.js';
import type { Instant } from '../common/instant.js';
import { ListQuery } from './list.dto.js';
import { ANY_CAMERA, CAMERA, CONNECTION, ENDINGS, FILE_REMOVED, TRUCK } from './recording.dto.js';

const ID = '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d';

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
  'erased',
  'gap',
  'clipFailed',
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

  @BooleanField({
    description:
      'Whether something was recorded or requested that is lost: it expired or failed. The `lost` seconds of buckets, cameras and days are the sum of these',
    example: false,
  })
  lost!: boolean;

  @UuidField({ description: 'The recording', optional: true, example: ID })
  recordingId?: string;

  @TextField({ description: 'Why no file is stored', max: 10_000, optional: true })
  reason?: string;

  @EnumField({
    description:
      'The same as a code, unless it is stored. `waiting`: not downloaded yet; the codes of a recording that failed or expired; `erased`: by an erasure, and not fetched again; `gap`: a clip without this part; `clipFailed`: a clip of it was requested, and the request failed or expired; `notRecorded`: the partner was asked and lists nothing; `unread`: its list could not be read; `notReadYet`; `notSubscribed`; `connectionDeleted`; `future`: still to come',
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

  @seconds('until now without a recording, or with one that failed')
  missing!: number;

  @seconds('of the missing ones with a recording, or a requested clip, that failed')
  failed!: number;

  @seconds('that are lost: the expired and the failed ones')
  lost!: number;

  @seconds('of the missing ones whose list was not read, so that nobody knows what was recorded')
  unread!: number;

  @seconds('that are still to come')
  future!: number;
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

export class CoverageSummaryQuery {
  @UuidField(CONNECTION)
  connectionId!: string;

  @TextField(TRUCK)
  truckId!: string;

  @InstantField({ description: 'Start of the range', inQuery: true, example: '2026-01-31T00:00:00Z' })
  from!: Instant;

  @InstantField({
    description: 'End of the range, at most 31 days later',
    inQuery: true,
    example: '2026-02-01T00:00:00Z',
  })
  to!: Instant;
}

/** The seconds of one camera that have no stored file for one cause. */
export class CoverageCauseSeconds {
  @EnumField({ description: 'Cause, as in `cause` of an interval', values: COVERAGE_CAUSES, example: 'linkRefused' })
  cause!: CoverageCause;

  @EnumField({ description: 'Whose part it is', values: COVERAGE_SIDES, example: 'partner' })
  side!: CoverageSide;

  @NumberField({ description: 'Seconds. To the millisecond', example: 1200 })
  seconds!: number;
}

/** One camera over the whole range. */
export class CameraCoverage extends CoverageSeconds {
  @TextField({ ...CAMERA, optional: true })
  cameraId?: string;

  @TextListField({
    description: 'Every name that the partner uses for it',
    maxLength: MAX_PARTNER_ID,
    example: ['front', '1'],
  })
  names!: string[];

  @InstantField({
    description: 'Start of its newest recording before the end of the range; absent if it has none',
    optional: true,
    example: '2026-01-31T08:30:00Z',
  })
  lastRecordedAt?: string;

  @ArrayField(() => CoverageCauseSeconds, { description: 'Why time is not stored, the longest first', max: 100 })
  causes!: CoverageCauseSeconds[];
}

export class CoverageSummary {
  @ArrayField(() => CameraCoverage, {
    description: 'The cameras of the truck, that with the most lost time first; also those that recorded nothing',
    max: 1_000,
  })
  data!: CameraCoverage[];
}

export class FleetCoverageQuery extends ListQuery {
  @UuidField({ description: 'Hauler of the trucks; without it those of all haulers', optional: true, example: ID })
  haulerId?: string;

  @InstantField({ description: 'Start of the range', inQuery: true, example: '2026-01-01T00:00:00Z' })
  from!: Instant;

  @InstantField({
    description: 'End of the range, at most 31 days later',
    inQuery: true,
    example: '2026-02-01T00:00:00Z',
  })
  to!: Instant;

  @TextField({
    description:
      'Time zone whose days are counted, by its IANA name with the region, or as an offset such as `-06:00`; `UTC` by default',
    min: 1,
    max: 100,
    optional: true,
    example: 'America/Chicago',
  })
  zone?: string;
}

/** The seconds of all cameras of one truck on one local day. */
export class TruckDay extends CoverageSeconds {
  @TextField({ description: 'Day in the zone of the query', max: 10, example: '2026-01-31' })
  day!: string;

  @InstantField({ description: 'Start of the day within the range', example: '2026-01-31T06:00:00Z' })
  startTime!: string;

  @InstantField({ description: 'End of the day within the range', example: '2026-02-01T06:00:00Z' })
  endTime!: string;
}

/** A camera that recorded in the month before, or that a subscription names, and that has no recording in the range. */
export class AbsentCamera {
  @TextField({ ...CAMERA, optional: true })
  cameraId?: string;

  @InstantField({
    description: 'Start of its newest recording before the end of the range; absent if it has none',
    optional: true,
    example: '2026-01-31T08:30:00Z',
  })
  lastRecordedAt?: string;
}

/** One truck over the days of the range. */
export class TruckCoverage {
  @UuidField({ description: 'Hauler of the truck', example: ID })
  haulerId!: string;

  @TextField({ description: 'Name of the hauler', max: 255, example: 'Lone Star Hauling' })
  haulerName!: string;

  @UuidField(CONNECTION)
  connectionId!: string;

  @TextField(TRUCK)
  truckId!: string;

  @IntegerField({ description: 'Cameras of the truck, at least 1', min: 1, max: 1000, example: 2 })
  cameras!: number;

  @ArrayField(() => AbsentCamera, { description: 'Of these, the ones without a recording in the range', max: 1_000 })
  absent!: AbsentCamera[];

  @IntegerField({
    description: 'Downloads of the range that have failed so far, or whose link expires within an hour',
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    example: 0,
  })
  atRisk!: number;

  @ArrayField(() => TruckDay, { description: 'Its days, in order', max: 33 })
  days!: TruckDay[];
}
