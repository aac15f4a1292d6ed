import type { Request, RequestHandler, Response } from 'express';
import type { ApiContract, ApiRoute } from '../../contracts/common/api-contract.js';
import type { Operation } from '../../contracts/interfaces/operations.js';
import type { InjectedScenario } from '../../contracts/sandbox/scenarios.js';
import { RESULT_HEADER } from '../../contracts/scale/scale.api.js';
import type { HaulerLimit } from '../database/hauler-limit.js';
import { inBackground } from '../errors/background.js';
import type { BodyCapture } from './body-capture.js';
import type { AdminCaller, Principal } from './principal.js';
import type { Logger } from 'pino';
import type { Env } from '../config/env.js';
import type { Metrics } from '../observability/metrics.js';
import { parseTraceparent } from '../outbound/trace-context.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** What this service knows of the request. */
    call: Call;
  }
}

/** A route as `@Route()` declares it. */
export interface Served {
  readonly api: ApiContract;
  readonly route: ApiRoute;
  /** Every status that the contract lists. */
  readonly statuses: ReadonlySet<number>;
}

/** An admin repeats an earlier request, which then has no key. Only `InnerServer` sets it: a header could be forged. */
interface Replay {
  /** Id of the repeated exchange. */
  readonly of: string;
  readonly caller: Principal;
}

/** The name of a scenario of the sandbox: in a request it switches the scenario on, in a response it says which one acted. */
export const SCENARIO_HEADER = 'Sandbox-Scenario';

/** Of an IPv6 address with its zone. A proxy may pass on any text. */
const MAX_ADDRESS_LENGTH = 64;

/**
 * The one record of a request. Its fields are set in this order, and are undefined before:
 * 1. `recordCalls`, before every route: `requestId`, `address`. `recordAnswers`: the exchange.
 * 2. The guard of a route: `served`; then `principal` or `admin` with `limit`. A key that is not cached is looked up meanwhile:
 *    `identifying`.
 * 3. `ScenarioInterceptor`, or the reference partner: `scenario`.
 * 4. `@JsonBody()`: `receiving`, `rawBody` or `rawBytes`, `wire`, `parsedBody`.
 * 5. The error filter: `outage`.
 * How the request ended is an `EndedCall`.
 */
export class Call {
  readonly started = performance.now();
  requestId = '';
  /** Of the caller; undefined if its connection was closed already. */
  address: string | undefined;
  /** Present if the exchange of the request is recorded, as that of each call of the four interfaces: its id. */
  exchangeId: string | undefined;
  /** With `exchangeId`: by the path alone, because the request may be refused before it has a route. */
  operation: Operation | undefined;
  /** With `exchangeId`: the body of the answer, as far as it was written. */
  answer: BodyCapture | undefined;
  served: Served | undefined;
  principal: Principal | undefined;
  /** Settles when `principal` is known or refused. */
  identifying: Promise<unknown> | undefined;
  /** The caller of the admin API. */
  admin: AdminCaller | undefined;
  /** Of a caller of the admin API that is limited to haulers. */
  limit: HaulerLimit | undefined;
  /** The fault that the sandbox injects. */
  scenario: InjectedScenario | undefined;
  /** The body as it was sent, without its content coding. */
  rawBody: string | undefined;
  /** The same while it arrives, or waits for its turn. */
  receiving: Promise<string> | undefined;
  /** The same bytes if they are not UTF-8. */
  rawBytes: Buffer | undefined;
  /** Of a body with a content coding: size and SHA-256 (hex) of the body as it was sent. */
  wire: { readonly sizeBytes: number; readonly sha256: string } | undefined;
  parsedBody: unknown;
  /** The caller is unknown and has not sent the body: its connection may be closed for another. */
  mayBeClosed = false;
  /** The cause of a 503. */
  outage: string | undefined;

  constructor(readonly replay?: Replay) {}
}

/** How a request ended. */
export interface EndedCall {
  readonly call: Call;
  readonly request: Request;
  readonly response: Response;
  /** Of the answer; 0 if nothing of it was sent. */
  readonly status: number;
  /** Whether the whole answer was sent before the connection closed. */
  readonly isComplete: boolean;
  readonly durationMs: number;
  /** `Ticket-Result`, also of an answer that was not sent. */
  readonly result: string | undefined;
}

/** What becomes of ended calls: metrics, lines of the log, exchanges, events. */
export type CallSink = (ended: EndedCall) => void;

/** Creates the record of each request, and hands it to the sinks when its response closes. */
export function recordCalls(sinks: readonly CallSink[]): RequestHandler {
  const report = (ended: EndedCall): void => {
    for (const sink of sinks) sink(ended);
  };
  // One function for all requests.
  function end(this: Response): void {
    const ended = endOf(this.req, this);
    const { principal, identifying } = ended.call;
    if (identifying === undefined || principal !== undefined) return report(ended);
    // Its caller may have left while the key was looked up.
    inBackground(identifying.catch(() => undefined).then(() => report(ended)));
  }
  return (request, response, next) => {
    const call = (request as { call?: Call }).call ?? new Call();
    request.call = call;
    call.requestId = String(response.getHeader('X-Request-Id'));
    call.address = request.ip?.slice(0, MAX_ADDRESS_LENGTH);
    response.on('close', end);
    next();
  };
}

function endOf(request: Request, response: Response): EndedCall {
  const { call } = request;
  const { headersSent, writableFinished, statusCode } = response;
  const result = response.getHeader(RESULT_HEADER);
  return {
    call,
    request,
    response,
    status: headersSent ? statusCode : 0,
    // Node considers an answer finished that was written after the connection had closed.
    isComplete: headersSent && writableFinished,
    durationMs: performance.now() - call.started,
    result: result === undefined ? undefined : String(result),
  };
}

export function servedBy({ served }: Call): Served {
  if (served === undefined) throw new Error('the handler has no @Route()');
  return served;
}

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
