import {
  Decimal,
  Flag,
  Integer,
  Json,
  NestedList,
  OneOf,
  Text,
  TextList,
  Time,
  Uuid,
} from '../common/fields/decorators.js';
import { between, example, inQuery, min, optional } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';
import { ListQuery } from './list.dto.js';
import { ENDINGS, FILE_REMOVED } from './recordings.routes.js';
import { AnyCameraId, CameraId, ConnectionId, HaulerId, TimeZone, TruckId } from './fields.js';
import { type AdminRoutes, FOR_VIEWERS, list, route } from './route-helpers.js';

export class CoverageSummaryQuery {
  @ConnectionId() connectionId!: string;
  @TruckId() truckId!: string;
  @Time('Start of the range', inQuery, example('2026-01-31T00:00:00Z')) from!: Instant;
  @Time('End of the range, at most 31 days later', inQuery, example('2026-02-01T00:00:00Z')) to!: Instant;
}

export class CoverageQuery extends CoverageSummaryQuery {
  @AnyCameraId(optional) cameraId?: string;
  @Integer(
    'Length of a bucket in seconds, from `from` on; without it intervals are returned, of at most 50,000 recordings',
    between(1, 31 * 86_400),
    inQuery,
    optional,
  )
  resolution?: number;
}

/** Why a time has no stored file. One meaning for lanes, fleet, report and CSV. */
const COVERAGE_CAUSES = [
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
const COVERAGE_SIDES = ['partner', 'platform', 'network', 'parked', 'future', 'unknown'] as const;
export type CoverageSide = (typeof COVERAGE_SIDES)[number];

/** An interval of one camera in one state (decision 49). */
export class CoverageInterval {
  @CameraId(optional) cameraId?: string;
  @Time('Start') startTime!: string;
  @Time('End') endTime!: string;
  @OneOf('State', ['stored', 'available', 'missing', 'expired']) state!: 'stored' | 'available' | 'missing' | 'expired';
  @Flag(
    'Whether something was recorded or requested that is lost: it expired or failed. The `lost` seconds of buckets, cameras and days are the sum of these',
  )
  lost!: boolean;
  @Uuid('The recording', optional) recordingId?: string;
  @Text('Why no file is stored', optional) reason?: string;
  @OneOf(
    'The same as a code, unless it is stored. `waiting`: not downloaded yet; the codes of a recording that failed or expired; `erased`: by an erasure, and not fetched again; `gap`: a clip without this part; `clipFailed`: a clip of it was requested, and the request failed or expired; `notRecorded`: the partner was asked and lists nothing; `unread`: its list could not be read; `notReadYet`; `notSubscribed`; `connectionDeleted`; `future`: still to come',
    COVERAGE_CAUSES,
    optional,
  )
  cause?: CoverageCause;
  @OneOf('Whose part it is; `parked` where the truck recorded nothing', COVERAGE_SIDES, optional) side?: CoverageSide;
  @Time('When the partner was last asked for the whole of it and listed no recording', optional) lastAskedAt?: string;
}

const Seconds = (what: string) => Decimal(`Seconds ${what}. To the millisecond`, example(3600));

class CoverageSeconds {
  @Seconds('that are stored') stored!: number;
  @Seconds('that are available at the partner and not stored yet') available!: number;
  @Seconds('that expired before they could be fetched') expired!: number;
  @Seconds('until now without a recording, or with one that failed') missing!: number;
  @Seconds('of the missing ones with a recording, or a requested clip, that failed') failed!: number;
  @Seconds('that are lost: the expired and the failed ones') lost!: number;
  @Seconds('of the missing ones whose list was not read, so that nobody knows what was recorded') unread!: number;
  @Seconds('that are still to come') future!: number;
}

/** The seconds of one camera within one bucket. Where recordings overlap, the better state counts. */
export class CoverageBucket extends CoverageSeconds {
  @CameraId(optional) cameraId?: string;
  @Time('Start') startTime!: string;
  @Time('End') endTime!: string;
}

export class Coverage {
  @Json('By camera and time, without gaps: buckets if the query has a `resolution`, else intervals', {
    type: 'array',
    items: {
      oneOf: [{ $ref: '#/components/schemas/CoverageInterval' }, { $ref: '#/components/schemas/CoverageBucket' }],
    },
  })
  data!: CoverageInterval[] | CoverageBucket[];
}

/** The seconds of one camera that have no stored file for one cause. */
class CoverageCauseSeconds {
  @OneOf('Cause, as in `cause` of an interval', COVERAGE_CAUSES, example('linkRefused')) cause!: CoverageCause;
  @OneOf('Whose part it is', COVERAGE_SIDES) side!: CoverageSide;
  @Decimal('Seconds. To the millisecond', example(1200)) seconds!: number;
}

/** One camera over the whole range. */
export class CameraCoverage extends CoverageSeconds {
  @CameraId(optional) cameraId?: string;
  @TextList('Every name that the partner uses for it', example(['front', '1'])) names!: string[];
  @Time('Start of its newest recording before the end of the range; absent if it has none', optional)
  lastRecordedAt?: string;
  @NestedList('Why time is not stored, the longest first', CoverageCauseSeconds) causes!: CoverageCauseSeconds[];
}

export class CoverageSummary {
  @NestedList(
    'The cameras of the truck, that with the most lost time first; also those that recorded nothing',
    CameraCoverage,
  )
  data!: CameraCoverage[];
}

export class FleetCoverageQuery extends ListQuery {
  @Uuid('Hauler of the trucks; without it those of all haulers', optional) haulerId?: string;
  @ConnectionId(optional) connectionId?: string;
  @TruckId(optional) truckId?: string;
  @Time('Start of the range', inQuery, example('2026-01-01T00:00:00Z')) from!: Instant;
  @Time('End of the range, at most 31 days later', inQuery, example('2026-02-01T00:00:00Z')) to!: Instant;
  @TimeZone() zone?: string;
}

/** The seconds of all cameras of one truck on one local day. */
export class TruckDay extends CoverageSeconds {
  @Text('Day in the zone of the query', example('2026-01-31')) day!: string;
  @Time('Start of the day within the range') startTime!: string;
  @Time('End of the day within the range') endTime!: string;
}

/** A camera that recorded in the month before, or that a subscription names, and that has no recording in the range. */
export class AbsentCamera {
  @CameraId(optional) cameraId?: string;
  @Time('Start of its newest recording before the end of the range; absent if it has none', optional)
  lastRecordedAt?: string;
}

/** One truck over the days of the range. */
export class TruckCoverage {
  @HaulerId() haulerId!: string;
  @Text('Name of the hauler', example('Lone Star Hauling')) haulerName!: string;
  @ConnectionId() connectionId!: string;
  @TruckId() truckId!: string;
  @Integer('Cameras of the truck, at least 1', min(1), example(2)) cameras!: number;
  @NestedList('Of these, the ones without a recording in the range', AbsentCamera) absent!: AbsentCamera[];
  @Integer('Downloads of the range that have failed so far, or whose link expires within an hour', example(0))
  atRisk!: number;
  @NestedList('Its days, in order', TruckDay) days!: TruckDay[];
}

/** Recorded and missing video over time. */
export const COVERAGE_ROUTES = {
  getCoverage: route(FOR_VIEWERS, 'GET', '/coverage', {
    summary: 'Read the recording coverage of a truck',
    description:
      'Splits the requested time of each camera into intervals that are stored, available, missing or expired, with the reason. With `resolution` it returns the seconds of each state in buckets instead, for any number of recordings.',
    query: CoverageQuery,
    response: Coverage,
    variants: [CoverageInterval, CoverageBucket],
    csv: true,
    returns: 'The intervals or buckets',
  }),
  getCoverageSummary: route(FOR_VIEWERS, 'GET', '/coverage/summary', {
    summary: 'Read why footage of a truck is missing',
    description:
      'The seconds of each camera over the whole range by state and cause: what the intervals of the coverage add up to.',
    query: CoverageSummaryQuery,
    response: CoverageSummary,
    returns: 'The cameras',
  }),
  listFleetCoverage: list(FOR_VIEWERS, '/coverage/fleet', TruckCoverage, FleetCoverageQuery, {
    summary: 'Read the recording coverage of a fleet',
    description:
      'One row per truck with its days, the truck with the most lost footage first, then those with an absent camera. Includes the trucks with a recording or a subscription in this time.',
    csv: { each: 'days' },
  }),
} as const satisfies AdminRoutes;
