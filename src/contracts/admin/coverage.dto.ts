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
