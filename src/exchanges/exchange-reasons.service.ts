import { Injectable } from '@nestjs/common';
import {
  type ExchangeReasons,
  ExchangeReasonsQuery,
  type ExchangeSpans,
  ExchangeSpansQuery,
} from '../contracts/admin/exchanges.routes.js';
import { fieldsOf } from '../contracts/common/fields/field.js';
import { formatInstant } from '../contracts/common/instant.js';
import { timeOfUuidv7 } from '../core/database/uuid.js';
import { filterOf, refuseUnknown } from './exchange-filter.rules.js';
import { ExchangeHours } from './exchange-hours.repository.js';
import { ExchangeLog } from './exchange-log.service.js';
import { reasonSentence } from './explanation.rules.js';

const HOUR_MS = 3_600_000;
/** Of one picture. */
const MAX_SPANS = 48;
/** Hours: a day has a whole number of spans, or a span of days. */
const WIDTHS = [1, 3, 6, 12, 24];

/** Exchanges over time, and why they failed, in numbers. */
@Injectable()
export class ExchangeReasonCounts {
  constructor(
    private readonly hours: ExchangeHours,
    private readonly log: ExchangeLog,
  ) {}

  /** Of the hours of the filter, or of all that are kept. `names` are the parameters that the caller sent. */
  async spans(query: ExchangeSpansQuery, names: readonly string[]): Promise<ExchangeSpans> {
    refuseUnknown(names, [...fieldsOf(ExchangeSpansQuery).keys()]);
    await this.log.flushForReader();
    const filter = filterOf(query);
    const now = Date.now();
    const first = filter.from ?? (await this.hours.first())?.getTime() ?? now;
    const [start, end] = [Math.floor(first / HOUR_MS), Math.max(first + 1, Math.min(filter.to ?? now, now)) / HOUR_MS];
    const widest = Math.ceil((end - start) / MAX_SPANS);
    const hours = WIDTHS.find((width) => width >= widest) ?? Math.ceil(widest / 24) * 24;
    const from = new Date(start * HOUR_MS);
    const rows = await this.hours.spans({ ...filter, from: from.getTime() }, hours, from);
    const counts = new Map(rows.map(({ start: at, ...each }) => [at.getTime(), each]));
    const data = Array.from({ length: Math.ceil((end - start) / hours) }, (_, index) => {
      const at = (start + index * hours) * HOUR_MS;
      const none = { succeeded: 0, refused: 0, failed: 0, unanswered: 0 };
      return { startTime: formatInstant(new Date(at)), ...(counts.get(at) ?? none) };
    });
    const { haulerId, connectionId, apiKeyId } = filter;
    const failedOnly = (haulerId ?? connectionId ?? apiKeyId) !== undefined;
    return { from: formatInstant(from), hours, failedOnly, data };
  }

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
