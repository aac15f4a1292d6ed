import { Documented } from '../common/fields/documented.js';
import { IntegerField, TextField, UuidField } from '../common/fields/scalar-fields.js';
import { ArrayField } from '../common/fields/nested-fields.js';
import { ExchangeMessage } from './exchange.dto.js';

const ID = '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d';

/** A filter that matches more exchanges is refused. */
export const MAX_REPLAYS = 1_000;

export const REPLAY_EXAMPLES = {
  'what would be sent': {
    summary: 'Refused pushes of a hauler, as a dry run',
    value: { haulerId: '5f0c1f2e-7a3b-4c8d-9e10-112233445566', status: '422', dryRun: true },
  },
} as const;

export class ReplayExchangeRequest {
  @UuidField({
    description: 'Push for this hauler, such as one of the sandbox; by default for the hauler of the exchange',
    optional: true,
    example: '5f0c1f2e-7a3b-4c8d-9e10-112233445566',
  })
  haulerId?: string;
}

const STATUS = { description: 'Status of the response; null without a response', min: 100, max: 999, nullable: true };

/** The response to a request. */
export class ReplayAnswer {
  @IntegerField({ ...STATUS, example: 200 })
  status!: number | null;

  @TextField({ description: 'Why there is no usable response, such as `timed-out`', max: 64, optional: true })
  failure?: string;

  @Documented({ description: 'The stored response; null without one', type: ExchangeMessage, nullable: true })
  response!: ExchangeMessage | null;
}

/** The new exchange, and its response beside the earlier one. */
export class ReplayedExchange {
  @UuidField({ description: 'The new exchange', example: ID })
  exchangeId!: string;

  @IntegerField({ ...STATUS, example: 200 })
  status!: number | null;

  @Documented({ description: 'What the earlier request received', type: ReplayAnswer })
  earlier!: ReplayAnswer;

  @Documented({
    description: 'What the new request received; absent if it is not stored yet: read the new exchange later',
    type: ReplayAnswer,
    required: false,
  })
  now?: ReplayAnswer;
}

/** An exchange that a replay by filter left out. */
export class SkippedExchange {
  @UuidField({ description: 'The exchange', example: ID })
  exchangeId!: string;

  @TextField({
    description: 'Why it cannot be replayed',
    max: 500,
    example: 'the body was cut at EXCHANGE_BODY_LIMIT',
  })
  reason!: string;
}

export const MAX_FAILURE_LENGTH = 2_000;

/** An exchange that a replay by filter tried to send, and could not. */
export class FailedReplay {
  @UuidField({ description: 'The exchange', example: ID })
  exchangeId!: string;

  @TextField({ description: 'Error code', max: 64, example: 'CONFLICT' })
  code!: string;

  @TextField({
    description: 'Why it was not sent',
    max: MAX_FAILURE_LENGTH,
    example: 'The stored API key cannot be decrypted with this SECRETS_KEY; save the key of the connection again.',
  })
  message!: string;
}

const count = (description: string) => IntegerField({ description, min: 0, max: MAX_REPLAYS, example: 12 });

export class ReplayedExchanges {
  @count('Exchanges that match the filter')
  matched!: number;

  @count('Requests that were sent again, the oldest first; 0 in a dry run')
  replayed!: number;

  @ArrayField(() => SkippedExchange, {
    description: 'Matching exchanges that cannot be replayed',
    max: MAX_REPLAYS,
    example: [],
  })
  skipped!: SkippedExchange[];

  @ArrayField(() => FailedReplay, {
    description: 'Matching exchanges whose request could not be sent; the others were tried all the same',
    max: MAX_REPLAYS,
    example: [],
  })
  failed!: FailedReplay[];
}
