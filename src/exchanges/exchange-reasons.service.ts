import { Injectable } from '@nestjs/common';
import { type ExchangeReasons, ExchangeReasonsQuery } from '../contracts/admin/exchange-reason.dto.js';
import { fieldsOf } from '../contracts/common/fields/field.js';
import { formatInstant } from '../contracts/common/instant.js';
import { timeOfUuidv7 } from '../database/uuid.js';
import { filterOf, refuseUnknown } from './exchange-filter.rules.js';
import { ExchangeHours } from './exchange-hours.repository.js';
import { ExchangeLog } from './exchange-log.service.js';
import { reasonSentence } from './reasons.rules.js';

/** Why exchanges failed, in numbers. */
@Injectable()
export class ExchangeReasonCounts {
  constructor(
    private readonly hours: ExchangeHours,
    private readonly log: ExchangeLog,
  ) {}

  /** Refused and failed calls to this service by the hour (`ExchangeHours`); undefined where exchanges are not logged. */
  async refusedCalls(from: Date, haulers: readonly string[] | undefined) {
    if (!this.log.isOn) return undefined;
    await this.log.flushForReader();
    return this.hours.refusedCalls(from, haulers);
  }

  /** `names` are the parameters that the caller sent. */
  async count(query: ExchangeReasonsQuery, names: readonly string[]): Promise<ExchangeReasons> {
    refuseUnknown(names, [...fieldsOf(ExchangeReasonsQuery).keys()]);
    await this.log.flushForReader();
    const rows = await this.hours.reasons(filterOf(query));
    return {
      data: rows.map(({ direction, reason, status, count, last_id }) => ({
        direction,
        reason,
        sentence: reasonSentence({ direction, reason, status }),
        count,
        lastExchangeId: last_id,
        lastAt: formatInstant(new Date(timeOfUuidv7(last_id))),
      })),
    };
  }
}
