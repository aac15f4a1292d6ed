import { Flag, Integer, NestedList, OneOf, Text, Time, Uuid } from '../common/fields/decorators.js';
import { example, min, optional } from '../common/fields/options.js';
import { AllExchangeFilters } from './exchange-query.dto.js';

/** The filters of the counted exchanges. */
export class ExchangeReasonsQuery extends AllExchangeFilters {}

/** Exchanges that failed for the same reason. */
export class ExchangeReason {
  @OneOf('Direction of the calls', ['inbound', 'outbound']) direction!: 'inbound' | 'outbound';
  @Text('`reason` of these exchanges', example('materialExists')) reason!: string;
  @Text('Why they failed', example('The platform has no material with this id for your hauler.')) sentence!: string;
  @Integer('How many', min(1), example(43)) count!: number;
  @Uuid('The newest of them') lastExchangeId!: string;
  @Time('When that one began') lastAt!: string;
}

export class ExchangeReasons {
  @NestedList('The most frequent first', ExchangeReason) data!: ExchangeReason[];
  @Flag('False if only the newest 20,000 failed exchanges were counted') complete!: boolean;
  @Time('When the oldest of them began', optional) since?: string;
}
