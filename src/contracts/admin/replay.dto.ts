import { Integer, Nested, NestedList, Text, Uuid } from '../common/fields/decorators.js';
import { example, nullable, optional } from '../common/fields/options.js';
import { ExchangeMessage } from './exchange.dto.js';
import { DryRun, HAULER, ResponseStatus } from './fields.js';

/** A filter that matches more exchanges is refused. */
export const MAX_REPLAYS = 1_000;

export const REPLAY_EXAMPLES = {
  'what would be sent': {
    summary: 'Refused pushes of a hauler, as a dry run',
    value: { haulerId: HAULER, status: '422', dryRun: true },
  },
} as const;

export class ReplayExchangeRequest {
  @Uuid('Push for this hauler, such as one of the sandbox; by default for the hauler of the exchange', optional)
  haulerId?: string;
  @DryRun() dryRun?: boolean;
}

/** The response to a request. */
export class ReplayAnswer {
  @ResponseStatus(nullable) status!: number | null;
  @Text('Why there is no usable response, such as `timed-out`', optional) failure?: string;
  @Nested('The stored response; null without one', ExchangeMessage, nullable) response!: ExchangeMessage | null;
}

/** The new exchange, and its response beside the earlier one. */
export class ReplayedExchange {
  @Uuid('The new exchange; absent for a dry run', optional) exchangeId?: string;
  @ResponseStatus(nullable) status!: number | null;
  @Nested('What the earlier request received', ReplayAnswer) earlier!: ReplayAnswer;
  @Nested(
    'What the new request received; absent if it is not stored yet: read the new exchange later',
    ReplayAnswer,
    optional,
  )
  now?: ReplayAnswer;
}

/** An exchange that a replay by filter left out. */
export class SkippedExchange {
  @Uuid('The exchange') exchangeId!: string;
  @Text('Why it cannot be replayed', example('the body was cut at EXCHANGE_BODY_LIMIT')) reason!: string;
}

export const MAX_FAILURE_LENGTH = 2_000;

/** An exchange that a replay by filter tried to send, and could not. */
export class FailedReplay {
  @Uuid('The exchange') exchangeId!: string;
  @Text('Error code', example('CONFLICT')) code!: string;
  @Text(
    'Why it was not sent',
    example('The stored API key cannot be decrypted with this SECRETS_KEY; save the key of the connection again.'),
  )
  message!: string;
}

export class ReplayedExchanges {
  @Integer('Exchanges that match the filter', example(12)) matched!: number;
  @Integer('Requests that were sent again, the oldest first; 0 in a dry run', example(12)) replayed!: number;
  @NestedList('Matching exchanges that cannot be replayed', SkippedExchange, example([])) skipped!: SkippedExchange[];
  @NestedList('Matching exchanges whose request could not be sent; the others were tried all the same', FailedReplay)
  failed!: FailedReplay[];
}
