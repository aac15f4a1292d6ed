import { Flag, Integer, NestedList, OneOf, Text, Time, Uuid } from '../common/fields/decorators.js';
import { example, inQuery, min, optional } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';
import { CountedFilters } from './exchange-query.dto.js';
import { ExchangeCounts } from './overview.dto.js';

/** The filters of the counted exchanges: hours are counted, and not by what each exchange names. */
export class ExchangeReasonsQuery extends CountedFilters {
  @Time('Exchanges from the hour of this time on', inQuery, optional) from?: Instant;
  @Time('Exchanges of the hours that began before this time', inQuery, optional) to?: Instant;
  @Uuid('Exchanges of this hauler only', optional) haulerId?: string;
  @Uuid('Outbound calls of this connection only', optional) connectionId?: string;
  @Uuid('Inbound calls with this API key only', optional) apiKeyId?: string;
}

export class ExchangeSpansQuery extends ExchangeReasonsQuery {
  @Flag('Exchanges that were refused, failed or have no response; or only the others', inQuery, optional)
  failed?: boolean;
}

/** Exchanges of some whole hours. */
export class ExchangeSpan extends ExchangeCounts {
  @Time('Start of the first hour') startTime!: string;
}

export class ExchangeSpans {
  @Time('Start of the first span') from!: string;
  @Integer('Hours of each span', min(1), example(1)) hours!: number;
  @Flag(
    'Only those that failed are counted: of the others it is not counted which hauler, connection or key they have',
    example(false),
  )
  failedOnly!: boolean;
  @NestedList('All spans until the end of the filter, or until now, at most 48, the oldest first', ExchangeSpan)
  data!: ExchangeSpan[];
}

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
}
