import type { Request } from 'express';
import type { Logger } from 'pino';
import type { Env } from '../config/env.js';
import type { Metrics } from '../observability/metrics.js';
import { parseTraceparent } from '../outbound/trace-context.js';
import type { CallSink, EndedCall } from './call.js';

/** Logged instead of the status when the caller disconnected before the response was complete. */
const CALLER_GONE = 499;

/** Load balancers poll it: successful checks are counted and not logged. */
const HEALTH_PATH = '/health/';

const shownStatus = ({ isComplete, status }: EndedCall): number => (isComplete ? status : CALLER_GONE);

/** Counts a request by its route and status, or by the scenario that acted on it. */
export const countCalls =
  ({ requests, sandboxAnswers }: Metrics): CallSink =>
  (ended) => {
    const { call, request, durationMs } = ended;
    if (call.scenario !== undefined) return sandboxAnswers.inc({ scenario: call.scenario.name });
    const labels = { method: request.method, route: routeOf(request), status: shownStatus(ended) };
    requests.observe(labels, durationMs / 1000);
  };

/** Counts and logs an answer that the contract does not list, an error of this service: generated clients cannot read it. */
export const reportUndeclared =
  (logger: Logger, { undeclaredAnswers }: Metrics): CallSink =>
  ({ call: { served, scenario, requestId }, status }) => {
    // A fault that the sandbox injects may have any status.
    if (status === 0 || served === undefined || scenario !== undefined || served.statuses.has(status)) return;
    const { operation } = served.route;
    undeclaredAnswers.inc({ operation, status });
    logger.error({ requestId, operation, status }, 'the contract of the operation does not list this status');
  };

/** Logs one line. A key is logged by its prefix. Query strings and headers are not logged: they contain keys and signatures. */
export const logCalls =
  (logger: Logger, env: Pick<Env, 'LOG_ACCESS'>): CallSink =>
  (ended) => {
    const { call, request, durationMs, result } = ended;
    const status = shownStatus(ended);
    if (status === 200 && request.path.startsWith(HEALTH_PATH)) return;
    if (status < 400 && env.LOG_ACCESS === 'failures') return;
    logger.info({
      requestId: call.requestId,
      traceId: parseTraceparent(request.headers['traceparent'])?.traceId,
      address: call.address,
      method: request.method,
      path: request.path,
      status,
      result,
      ms: Math.round(durationMs * 100) / 100,
      haulerId: call.principal?.haulerId ?? undefined,
      keyPrefix: call.principal?.keyPrefix,
      scenario: call.scenario?.name,
      outage: call.outage,
    });
  };

/** The pattern of the matched route, so that ids do not multiply the series. */
function routeOf(request: Request): string {
  const path = (request.route as { readonly path?: unknown } | undefined)?.path;
  return typeof path === 'string' ? path : 'none';
}
