import { INTERFACES, type InterfaceName } from '../common/interfaces.values.js';
import { Integer, Nested, NestedList, OneOf, Text, Time, Uuid } from '../common/fields/decorators.js';
import { example, optional, range } from '../common/fields/options.js';
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

/** Refused pushes of tickets and accounts with one reason. */
export class RefusedPushes {
  @OneOf('The interface', INTERFACES) interface!: InterfaceName;
  @Integer('Status of the responses', range(400, 599), example(422)) status!: number;
  @Text('`error.code` of the responses', optional, example('VALIDATION_ERROR')) errorCode?: string;
  @Text('Broken rules, or the reason', optional, example('materialExists')) reason?: string;
  @Integer('Number of pushes', example(4)) count!: number;
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
