import { INTERFACES, type InterfaceName } from '../common/api-contract.js';
import { ArrayField } from '../common/fields/nested-fields.js';
import { EnumField, InstantField, IntegerField, TextField, UuidField } from '../common/fields/scalar-fields.js';
import type { Instant } from '../common/instant.js';

const ID = '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d';
const MAX_REASONS = 50;

/** The filters of the counted exchanges: hours are counted, and not by what each exchange names. */
export class ExchangeReasonsQuery {
  @EnumField({
    description: 'Calls to this service, or calls of this service',
    values: ['inbound', 'outbound'],
    optional: true,
  })
  direction?: 'inbound' | 'outbound';

  @EnumField({ description: 'Exchanges of this interface only', values: INTERFACES, optional: true })
  interface?: InterfaceName;

  @TextField({
    description: 'A status, a class of statuses, or `none` for exchanges without a response',
    max: 4,
    pattern: /^([1-5]\d\d|[1-5]xx|none)$/,
    form: 'a status such as 422, 4xx or none',
    optional: true,
  })
  status?: string;

  @TextField({ description: '`error.code` of the response', min: 1, max: 100, optional: true })
  errorCode?: string;

  @TextField({ description: 'Why it failed: `reason` of an exchange', min: 1, max: 300, optional: true })
  reason?: string;

  @InstantField({ description: 'Exchanges from the hour of this time on', optional: true, inQuery: true })
  from?: Instant;

  @InstantField({ description: 'Exchanges of the hours that began before this time', optional: true, inQuery: true })
  to?: Instant;

  @UuidField({ description: 'Exchanges of this hauler only', optional: true })
  haulerId?: string;

  @UuidField({ description: 'Outbound calls of this connection only', optional: true })
  connectionId?: string;

  @UuidField({ description: 'Inbound calls with this API key only', optional: true })
  apiKeyId?: string;
}

/** Exchanges that failed for the same reason. */
export class ExchangeReason {
  @EnumField({ description: 'Direction of the calls', values: ['inbound', 'outbound'], example: 'inbound' })
  direction!: 'inbound' | 'outbound';

  @TextField({ description: '`reason` of these exchanges', max: 300, example: 'materialExists' })
  reason!: string;

  @TextField({
    description: 'Why they failed',
    max: 1_000,
    example: 'The platform has no material with this id for your hauler.',
  })
  sentence!: string;

  @IntegerField({ description: 'How many', min: 1, max: Number.MAX_SAFE_INTEGER, example: 43 })
  count!: number;

  @UuidField({ description: 'The newest of them', example: ID })
  lastExchangeId!: string;

  @InstantField({ description: 'When that one began', example: '2026-11-20T14:03:27.512Z' })
  lastAt!: string;
}

export class ExchangeReasons {
  @ArrayField(() => ExchangeReason, { description: 'The most frequent first', max: MAX_REASONS })
  data!: ExchangeReason[];
}
