import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import { isWhole } from '../http/whole-answer.js';
import type { Metrics } from './metrics.js';

/** A request in which a guard has found the caller. */
interface ObservedRequest extends Request {
  principal?: { readonly haulerId: string | null; readonly keyPrefix: string };
}

/** Logged in place of the status of an answer that its caller did not wait for. */
const CALLER_GONE = 499;

/**
 * One log line and one observation for every answer; a key is told by the prefix that lists show. Neither query strings
 * nor headers are logged: keys and signatures travel there.
 */
export function observeRequests(logger: Logger, metrics: Metrics) {
  return (request: ObservedRequest, response: Response): void => {
    const started = performance.now();
    response.once('close', () => {
      const milliseconds = performance.now() - started;
      const route = routeOf(request);
      const status = isWhole(response) ? response.statusCode : CALLER_GONE;
      metrics.requests.observe({ method: request.method, route, status }, milliseconds / 1000);
      logger.info({
        requestId: response.getHeader('X-Request-Id'),
        method: request.method,
        path: request.path,
        status,
        ms: Math.round(milliseconds * 100) / 100,
        haulerId: request.principal?.haulerId ?? undefined,
        keyPrefix: request.principal?.keyPrefix,
      });
    });
  };
}

/** The pattern of the matched route, so that ids do not multiply the series. */
function routeOf(request: Request): string {
  const path = (request.route as { readonly path?: unknown } | undefined)?.path;
  return typeof path === 'string' ? path : 'none';
}
