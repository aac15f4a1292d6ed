import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { RequestHandler } from 'express';

/** A trace that a call belongs to (W3C Trace Context). */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits: the caller's part of the trace. */
  readonly parentId: string;
  readonly isSampled: boolean;
  /** `tracestate` as it came. */
  readonly state?: string | undefined;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;

/** Undefined for a header that is absent, malformed, repeated, all zero, or of the forbidden version ff. */
export function parseTraceparent(header: unknown): TraceContext | undefined {
  if (typeof header !== 'string') return undefined;
  const [, version, traceId = '', parentId = '', flags = '', more] = TRACEPARENT.exec(header) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId)) return undefined;
  return { traceId, parentId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 };
}

/** A longer `tracestate` is not passed on (W3C Trace Context, 3.3.1.5). */
const MAX_STATE_LENGTH = 512;

const traces = new AsyncLocalStorage<TraceContext>();

/** Runs `work`: the outbound calls in it belong to the trace. */
export const inTrace = <T>(trace: TraceContext, work: () => T): T => traces.run(trace, work);

export const currentTrace = (): TraceContext | undefined => traces.getStore();

/** Of work that nobody has called. */
export const newTrace = (): TraceContext => ({ traceId: hexOf(16), parentId: '', isSampled: true });

/** The headers of an outbound call, with a new id of this call. */
export function traceHeaders(): Readonly<Record<string, string>> {
  const { traceId, isSampled, state } = currentTrace() ?? newTrace();
  return {
    traceparent: `00-${traceId}-${hexOf(8)}-0${isSampled ? SAMPLED : 0}`,
    ...(state === undefined ? {} : { tracestate: state }),
  };
}

/** Not all zero. */
function hexOf(bytes: number): string {
  const text = randomBytes(bytes).toString('hex');
  return /^0+$/.test(text) ? hexOf(bytes) : text;
}

/** A request with a valid `traceparent`: what it causes belongs to the caller's trace. Any other costs nothing. */
export const continueTrace: RequestHandler = ({ headers }, _response, next) => {
  const trace = headers['traceparent'] === undefined ? undefined : parseTraceparent(headers['traceparent']);
  if (trace === undefined) return next();
  // Node.js joins a repeated header.
  const state = headers['tracestate'];
  const isPassedOn = typeof state === 'string' && state !== '' && state.length <= MAX_STATE_LENGTH;
  inTrace(isPassedOn ? { ...trace, state } : trace, next);
};
