import { parseTraceparent } from '../core/outbound/trace-context.js';
import type { Direction } from './exchange-record.js';

/** Where an exchange stands in its trace. */
export interface ExchangeTrace {
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
