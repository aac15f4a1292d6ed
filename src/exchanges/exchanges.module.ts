import { Global, Module } from '@nestjs/common';
import { OUTBOUND_LOG } from '../core/outbound/outbound-log.js';
import { ExchangeDecisions } from './exchange-decisions.service.js';
import { ExchangeHours } from './exchange-hours.repository.js';
import { ExchangeHistory } from './exchange-history.service.js';
import { ExchangeLog } from './exchange-log.service.js';
import { ExchangeQueries } from './exchange-queries.service.js';
import { ExchangeReasonCounts } from './exchange-reasons.service.js';
import { ExchangeRetention } from './exchange-retention.job.js';
import { ExchangesRepository } from './exchanges.repository.js';
import { ExchangeWriter } from './exchange-writer.js';
import { OutboundCapture } from './outbound-capture.js';

/**
 * The log of HTTP exchanges in both directions, and why each ended as it did. It knows requests and answers, not tickets, clips or
 * sites: their modules report what they decided. Global, because all interfaces are recorded.
 */
@Global()
@Module({
  providers: [
    ExchangeLog,
    ExchangeWriter,
    ExchangeHours,
    ExchangesRepository,
    ExchangeQueries,
    ExchangeDecisions,
    ExchangeReasonCounts,
    ExchangeHistory,
    ExchangeRetention,
    OutboundCapture,
    { provide: OUTBOUND_LOG, useExisting: OutboundCapture },
  ],
  exports: [
    ExchangeLog,
    ExchangeDecisions,
    ExchangeHistory,
    ExchangeHours,
    ExchangeQueries,
    ExchangeReasonCounts,
    OUTBOUND_LOG,
  ],
})
export class ExchangesModule {}
