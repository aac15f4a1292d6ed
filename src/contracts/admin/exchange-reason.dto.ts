import { ArrayField } from '../common/fields/nested-fields.js';
import {
  BooleanField,
  EnumField,
  InstantField,
  IntegerField,
  TextField,
  UuidField,
} from '../common/fields/scalar-fields.js';
import { AllExchangeFilters } from './exchange-query.dto.js';

const ID = '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d';
const MAX_REASONS = 50;

/** The filters of the counted exchanges. */
export class ExchangeReasonsQuery extends AllExchangeFilters {}

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

  @BooleanField({
    description: 'False if only the newest 20,000 failed exchanges were counted',
    example: true,
  })
  complete!: boolean;

  @InstantField({
    description: 'When the oldest of them began',
    optional: true,
    example: '2026-11-20T11:40:02.120Z',
  })
  since?: string;
}
