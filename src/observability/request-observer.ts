import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import type { Env } from '../config/env.js';
import { RESULT_HEADER } from '../contracts/scale/scale.dto.js';
import { parseTraceparent } from '../outbound/trace-context.js';
import type { Metrics } from './metrics.js';

/** A request that has reached the guard of its route, which may have identified the caller. */
export interface ObservedRequest extends Request {
  principal?: { readonly haulerId: string | null; readonly keyPrefix: string };
  served?: { readonly route: { readonly operation: string }; readonly statuses: ReadonlySet<number> };
  /** The fault that the sandbox injects: it may have any status. */
  scenario?: { readonly name: string };
  /** The cause of a 503. */
  outage?: string;
}

/** Logged instead of the status when the caller disconnected before the response was complete. */
const CALLER_GONE = 499;

/** Of an IPv6 address with its zone. */
const MAX_ADDRESS_LENGTH = 64;

/** Load balancers poll it: successful checks are counted and not logged. */
const HEALTH_PATH = '/health/';

/**
 * Logs one line and records one metric for each response. A key is logged by its prefix. Query strings and headers are not
 * logged: they contain keys and signatures.
 */
export function observeRequests(logger: Logger, metrics: Metrics, env: Pick<Env, 'LOG_ACCESS'>): RequestHandler {
  return (request: ObservedRequest, response, next) => {
    const started = performance.now();
    // A closed connection has no address. A proxy may pass on any text.
    const address = request.ip?.slice(0, MAX_ADDRESS_LENGTH);
    response.on('close', () => {
      const milliseconds = performance.now() - started;
      const status = response.writableFinished ? response.statusCode : CALLER_GONE;
      const { scenario } = request;
      if (scenario !== undefined) metrics.sandboxAnswers.inc({ scenario: scenario.name });
      else metrics.requests.observe({ method: request.method, route: routeOf(request), status }, milliseconds / 1000);
      if (response.headersSent) reportUndeclared(request, response, logger, metrics);
      if (status === 200 && request.path.startsWith(HEALTH_PATH)) return;
      if (status < 400 && env.LOG_ACCESS === 'failures') return;
      logger.info({
        requestId: response.getHeader('X-Request-Id'),
        traceId: parseTraceparent(request.headers['traceparent'])?.traceId,
        address,
        method: request.method,
        path: request.path,
        status,
        result: response.getHeader(RESULT_HEADER),
        ms: Math.round(milliseconds * 100) / 100,
        haulerId: request.principal?.haulerId ?? undefined,
        keyPrefix: request.principal?.keyPrefix,
        scenario: scenario?.name,
        outage: request.outage,
      });
    });
    next();
  };
}

/** An answer that the contract does not list is an error of this service: generated clients cannot read it. */
function reportUndeclared(request: ObservedRequest, response: Response, logger: Logger, metrics: Metrics): void {
  const { served, scenario } = request;
  const { statusCode: status } = response;
  if (served === undefined || scenario !== undefined || served.statuses.has(status)) return;
  const { operation } = served.route;
  metrics.undeclaredAnswers.inc({ operation, status });
  const requestId = response.getHeader('X-Request-Id');
  logger.error({ requestId, operation, status }, 'the contract of the operation does not list this status');
}

/** The pattern of the matched route, so that ids do not multiply the series. */
function routeOf(request: Request): string {
  const path = (request.route as { readonly path?: unknown } | undefined)?.path;
  return typeof path === 'string' ? path : 'none';
}
