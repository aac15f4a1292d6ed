import { parseTraceparent } from '../core/outbound/trace-context.js';
import type { Direction } from './exchange-record.js';
import type { ReplayExchangesRequest } from '../contracts/admin/exchanges.routes.js';
import { epochMillis } from '../contracts/common/instant.js';
import { parseReference } from '../contracts/common/references.js';
import type { Violation } from '../contracts/common/violation.js';
import { filteredHauler } from '../core/database/hauler-limit.js';
import { invalid } from '../core/errors/app-error.js';
import type { ExchangeFilter } from './exchange-list.sql.js';

/** Where an exchange stands in its trace. */
interface ExchangeTrace {
  readonly traceId: string;
  readonly spanId: string;
  /** The caller's part of the trace. */
  readonly parentId?: string;
}

/**
 * From `traceparent` of the request. Without a valid one the id of the exchange is that of the trace. An inbound exchange is a
 * part of the trace whose id is the end of its own id, so that nothing is stored for it.
 */
export function traceOf(id: string, direction: Direction, traceparent: unknown): ExchangeTrace {
  const own = id.replaceAll('-', '');
  const sent = parseTraceparent(traceparent);
  if (sent === undefined) return { traceId: own, spanId: own.slice(16) };
  const { traceId, parentId } = sent;
  return direction === 'outbound' ? { traceId, spanId: parentId } : { traceId, spanId: own.slice(16), parentId };
}

/** The filter of a query, without its cursor. */
export function filterOf(query: Omit<ReplayExchangesRequest, 'dryRun'>): ExchangeFilter {
  const { direction, interface: name, haulerId, connectionId, apiKeyId, errorCode, requestId, reason } = query;
  return {
    direction,
    interface: name,
    haulerId: filteredHauler(haulerId),
    connectionId,
    apiKeyId,
    errorCode,
    requestId,
    reason,
    failed: query.failed,
    rehearsed: query.rehearsed,
    status: statusRange(query.status),
    reference: query.reference === undefined ? undefined : parseReference(query.reference),
    from: query.from === undefined ? undefined : epochMillis(query.from),
    to: query.to === undefined ? undefined : epochMillis(query.to),
  };
}

function statusRange(status: string | undefined): [number, number] | undefined {
  if (status === undefined) return undefined;
  if (status === 'none') return [0, 0];
  const hundreds = Number(status[0]) * 100;
  return status.endsWith('xx') ? [hundreds, hundreds + 99] : [Number(status), Number(status)];
}

/** An unknown filter must not show everything. */
export function refuseUnknown(names: readonly string[], known: readonly string[]): void {
  const violations = names
    .filter((name) => !known.includes(name))
    .map((name): Violation => ({
      path: name.slice(0, 100),
      rule: 'isKnown',
      message: `${name.slice(0, 100)} is not a filter: use ${known.join(', ')}`,
    }));
  if (violations.length > 0) throw invalid(violations);
}
