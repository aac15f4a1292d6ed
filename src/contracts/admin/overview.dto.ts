import { INTERFACES, type InterfaceName } from '../common/api-contract.js';
import { Documented } from '../common/fields/documented.js';
import { EnumField, InstantField, IntegerField, TextField, UuidField } from '../common/fields/scalar-fields.js';

const COUNT = { min: 0, max: Number.MAX_SAFE_INTEGER };
const EXCHANGE_LOGS = ['all', 'failures', 'off'] as const;

/** Pushes of tickets within an hour, by what the service decided. */
export class TicketCounts {
  @IntegerField({ ...COUNT, description: 'New tickets', example: 118 })
  created!: number;

  @IntegerField({ ...COUNT, description: 'Newer contents of known tickets', example: 12 })
  updated!: number;

  @IntegerField({ ...COUNT, description: 'Repetitions of the stored contents', example: 3 })
  unchanged!: number;

  @IntegerField({ ...COUNT, description: 'Older contents than the stored ones', example: 0 })
  stale!: number;

  @IntegerField({ ...COUNT, description: 'Refused or failed pushes', example: 2 })
  refused!: number;
}

/** HTTP exchanges within an hour, in both directions. */
export class ExchangeCounts {
  @IntegerField({ ...COUNT, description: 'With a status below 400', example: 1204 })
  succeeded!: number;

  @IntegerField({ ...COUNT, description: 'With a status of 400 to 499', example: 9 })
  refused!: number;

  @IntegerField({ ...COUNT, description: 'With a status of 500 or more', example: 0 })
  failed!: number;

  @IntegerField({ ...COUNT, description: 'Without a response', example: 1 })
  unanswered!: number;
}

export class OverviewHour {
  @InstantField({ description: 'Start of the hour', example: '2026-11-20T14:00:00Z' })
  startTime!: string;

  @Documented({ description: 'Pushes of tickets', type: TicketCounts })
  tickets!: TicketCounts;

  @IntegerField({ ...COUNT, description: 'Recordings whose file was stored', example: 240 })
  recordingsStored!: number;

  @Documented({ description: 'HTTP exchanges', type: ExchangeCounts })
  exchanges!: ExchangeCounts;
}

/** Refused pushes of tickets and accounts with one reason. */
export class RefusedPushes {
  @EnumField({ description: 'The interface', values: INTERFACES, example: 'scale' })
  interface!: InterfaceName;

  @IntegerField({ description: 'Status of the responses', min: 400, max: 599, example: 422 })
  status!: number;

  @TextField({ description: '`error.code` of the responses', max: 100, optional: true, example: 'VALIDATION_ERROR' })
  errorCode?: string;

  @TextField({ description: 'Broken rules, or the reason', max: 300, optional: true, example: 'materialExists' })
  reason?: string;

  @IntegerField({ ...COUNT, description: 'Number of pushes', example: 4 })
  count!: number;

  @UuidField({ description: 'The newest of these exchanges', example: '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d' })
  lastExchangeId!: string;
}

/** The last 24 hours in numbers. */
export class Overview {
  @InstantField({ description: 'Start of the first hour', example: '2026-11-19T15:00:00Z' })
  from!: string;

  @InstantField({ description: 'End of the current hour', example: '2026-11-20T15:00:00Z' })
  to!: string;

  @EnumField({
    description: 'EXCHANGE_LOG of the service: pushes and exchanges that it does not log are not counted',
    values: EXCHANGE_LOGS,
    example: 'all',
  })
  exchangeLog!: (typeof EXCHANGE_LOGS)[number];

  @Documented({ description: 'Oldest first', type: OverviewHour, isArray: true, minItems: 24, maxItems: 24 })
  hours!: OverviewHour[];

  @Documented({
    description: 'Refused pushes of all hours by reason, the most frequent first',
    type: RefusedPushes,
    isArray: true,
    maxItems: 20,
  })
  refusedPushes!: RefusedPushes[];
}
