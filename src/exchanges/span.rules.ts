import { timeOfUuidv7 } from '../database/uuid.js';
import type { ExchangeRecord } from './exchange-record.js';
import { type LinkRule, redactPath } from './redaction.rules.js';
import { traceOf } from './trace.rules.js';

/** SpanKind and StatusCode of OTLP. */
const SERVER = 2;
const CLIENT = 3;
const ERROR = 2;

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue: string } | { readonly intValue: string };
}

/** A text, or a whole number, which is text in the JSON of protobuf. */
export const attribute = (key: string, value: string | number): Attribute => ({
  key,
  value: typeof value === 'string' ? { stringValue: value } : { intValue: String(value) },
});

/** The span of an exchange in OTLP as JSON, by the conventions for HTTP; undefined if its caller does not sample the trace. */
export function spanOf(record: ExchangeRecord): object | undefined {
  const { id, direction, method, route, status, failure, secrets, requestHeaders, parentSpanId } = record;
  const { traceId, spanId, parentId = parentSpanId, isSampled } = traceOf(id, direction, requestHeaders['traceparent']);
  if (!isSampled) return undefined;
  const isInbound = direction === 'inbound';
  const rule: LinkRule = isInbound ? 'signature' : 'every value';
  const isError = failure !== undefined || status >= (isInbound ? 500 : 400);
  const start = BigInt(timeOfUuidv7(id)) * 1_000_000n;
  const facts: Readonly<Record<string, string | number | null | undefined>> = {
    'http.request.method': method,
    'url.path': redactPath(record.path, rule, secrets).split('?', 1)[0],
    'http.response.status_code': status === 0 ? undefined : status,
    'server.address': isInbound ? undefined : record.requestHeaders['host']?.toString(),
    'error.type': isError ? (failure ?? String(status)) : undefined,
    'haulbridge.exchange.id': id,
    'haulbridge.interface': record.interface,
    'haulbridge.hauler.id': record.haulerId,
    'haulbridge.result': record.result,
  };
  return {
    traceId,
    spanId,
    ...(parentId === undefined || parentId === '' ? {} : { parentSpanId: parentId }),
    name: route ?? method,
    kind: isInbound ? SERVER : CLIENT,
    startTimeUnixNano: String(start),
    endTimeUnixNano: String(start + BigInt(Math.round(record.durationMs * 1_000_000))),
    attributes: Object.entries(facts).flatMap(([key, value]) =>
      value === undefined || value === null ? [] : [attribute(key, value)],
    ),
    status: isError ? { code: ERROR } : {},
  };
}
