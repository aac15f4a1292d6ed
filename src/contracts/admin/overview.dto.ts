import { INTERFACES, type InterfaceName } from '../common/interfaces.values.js';
import { Decimal, Integer, Nested, NestedList, OneOf, Text, Time, Uuid } from '../common/fields/decorators.js';
import { example, optional, between } from '../common/fields/options.js';
import { ConnectionId, HaulerId, TimeZone, TruckId } from './fields.js';

const EXCHANGE_LOGS = ['all', 'failures', 'off'] as const;

/** Pushes of tickets within an hour, by what the service decided. */
export class TicketCounts {
  @Integer('New tickets', example(118)) created!: number;
  @Integer('Newer contents of known tickets', example(12)) updated!: number;
  @Integer('Repetitions of the stored contents', example(3)) unchanged!: number;
  @Integer('Older contents than the stored ones', example(0)) stale!: number;
  @Integer('Refused or failed pushes', example(2)) refused!: number;
}

/** HTTP exchanges within an hour, in both directions. */
export class ExchangeCounts {
  @Integer('With a status below 400', example(1204)) succeeded!: number;
  @Integer('With a status of 400 to 499', example(9)) refused!: number;
  @Integer('With a status of 500 or more', example(0)) failed!: number;
  @Integer('Without a response', example(1)) unanswered!: number;
}

export class OverviewHour {
  @Time('Start of the hour') startTime!: string;
  @Nested('Pushes of tickets', TicketCounts) tickets!: TicketCounts;
  @Integer('Recordings whose file was stored', example(240)) recordingsStored!: number;
  @Nested('HTTP exchanges', ExchangeCounts) exchanges!: ExchangeCounts;
}

/** Refused pushes of tickets and accounts of one hauler with one reason. */
export class RefusedPushes {
  @OneOf('The interface', INTERFACES) interface!: InterfaceName;
  @Integer('Status of the responses', between(400, 599), example(422)) status!: number;
  @Text('`error.code` of the responses', optional, example('VALIDATION_ERROR')) errorCode?: string;
  @Text('Broken rules, or the reason', optional, example('materialExists')) reason?: string;
  @Integer('Number of pushes', example(4)) count!: number;
  @Uuid('Hauler of the caller; absent where no key named one', optional) haulerId?: string;
  @Time('When the first of them was received') firstAt!: string;
  @Uuid('The newest of these exchanges') lastExchangeId!: string;
}

/** The last 24 hours in numbers. */
export class Overview {
  @Time('Start of the first hour') from!: string;
  @Time('End of the current hour') to!: string;
  @OneOf('EXCHANGE_LOG of the service: pushes and exchanges that it does not log are not counted', EXCHANGE_LOGS)
  exchangeLog!: (typeof EXCHANGE_LOGS)[number];
  @NestedList('Oldest first', OverviewHour) hours!: OverviewHour[];
  @NestedList('Refused pushes of all hours by reason, the most frequent first', RefusedPushes)
  refusedPushes!: RefusedPushes[];
}

export class OverviewDaysQuery {
  @Uuid('What concerns this hauler only', optional) haulerId?: string;
  @TimeZone() timeZone?: string;
}

/** What came in on a day of the zone, which has 23 or 25 hours where the clocks change. */
export class OverviewDay {
  @Text('Day in the zone of the query', example('2026-01-31')) day!: string;
  @Time('Its start') startTime!: string;
  @Time('Its end') endTime!: string;
  @Integer('Tickets first received, as `GET /tickets` lists them', example(93)) tickets!: number;
  @Decimal('Their short tons, as in the tonnage report. Absent while they are being summed', optional, example(1204.5))
  tons?: number;
  @Integer('Accounts created, as `GET /accounts` lists them', example(4)) accounts!: number;
  @Integer(
    'Refused and failed calls to this service without rehearsals, as `GET /exchanges` lists them with `direction=inbound`, `failed=true` and `rehearsed=false`, in the hours that begin on this day. Absent where exchanges are not logged, or no longer kept',
    optional,
    example(2),
  )
  refusedCalls?: number;
  @Decimal(
    'Seconds of footage that are stored, of all cameras. Absent while they are being summed',
    optional,
    example(86_400),
  )
  storedSeconds?: number;
  @Decimal(
    'Seconds that were recorded or requested: those stored, still available at the partner, and lost',
    optional,
    example(90_000),
  )
  recordedSeconds?: number;
}

/**
 * A scale house, by its site, or a camera that has sent less than half of what it usually has by this time of the same weekday, as the
 * middle one of the four weeks before. Where today is too young, or no camera of the truck sent anything, it is about yesterday.
 */
export class QuietSource {
  @OneOf('What it is', ['site', 'camera']) kind!: 'site' | 'camera';
  @HaulerId() haulerId!: string;
  @Text('Name of the site or the camera', example('North')) name!: string;
  @Uuid("The partner's id of the site", optional) siteId?: string;
  @ConnectionId(optional) connectionId?: string;
  @TruckId(optional) truckId?: string;
  @Time('Start of the time that is compared') from!: string;
  @Time('Its end') to!: string;
  @Decimal('Tickets, or seconds of footage, of this time', example(0)) sent!: number;
  @Decimal('As many as usual', example(42)) usual!: number;
  @Time('When its last ticket was received, or its last recording begins; absent if there is none any more', optional)
  lastAt?: string;
}

/** The last 14 days, and who sends less than usual. */
export class OverviewDays {
  @NestedList('Oldest first; the last one is today', OverviewDay) days!: OverviewDay[];
  @NestedList(
    'Those that sent least for the longest time first, at most 20. Absent while they are being compared',
    QuietSource,
    optional,
  )
  quiet?: QuietSource[];
}
