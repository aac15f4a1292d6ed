import { setTimeout as delay } from 'node:timers/promises';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Request, Response } from 'express';
import { NEVER, type Observable, tap } from 'rxjs';
import { type InjectedScenario, secondsOf } from '../../contracts/sandbox/scenarios.js';
import { nameTaken } from '../../contracts/account/account.api.js';
import { SCALE_API, unknownMaterial } from '../../contracts/scale/scale.api.js';
import { AppError, unexpected, violated } from '../../core/errors/app-error.js';
import { JSON_TYPE } from '../../core/http/answer.js';
import { parseUnreadBody } from '../../core/http/json-body.js';
import { SCENARIO_HEADER } from '../../core/http/call.js';
import { routeOf, ScenarioSelection } from './scenario-selection.js';

const HTML = '<!doctype html><html><head><title>Welcome</title></head><body><h1>It works!</h1></body></html>';
/** The beginning of a JSON response of any of the interfaces. */
const BEGINNING = '{"success":true,"data":{';
/** The declared length of a cut response: more bytes than are sent. */
const CUT_LENGTH = 4_096;

/**
 * Injects the faults of HTTP into the four interfaces, after the guard has accepted the key. Scenarios that change the
 * content of a response are passed to the reference partner in `call.scenario`.
 */
@Injectable()
export class ScenarioInterceptor implements NestInterceptor {
  constructor(private readonly selection: ScenarioSelection) {}

  /** Returns at once if no scenario can act: a promise costs a tenth of the tickets per second. */
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> | Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<Request>();
    const response = context.switchToHttp().getResponse<Response>();
    const route = routeOf(request.call);
    const selected = route && this.selection.select(route, request);
    return selected === undefined ? next.handle() : inject(selected, request, response, next);
  }
}

async function inject(
  selected: InjectedScenario | Promise<InjectedScenario | undefined>,
  request: Request,
  response: Response,
  next: CallHandler,
): Promise<Observable<unknown>> {
  const scenario = await selected;
  if (scenario === undefined) return next.handle();
  request.call.scenario = scenario;
  response.setHeader(SCENARIO_HEADER, scenario.name);
  const error = errorOf(scenario, response);
  const breakResponse = BROKEN_RESPONSES[scenario.name];
  // The route does not run, and the exchange needs the values of the body to be found.
  if (error !== undefined || breakResponse !== undefined) await parseUnreadBody(request);
  if (error !== undefined) throw error;
  if (scenario.name === 'slow-answer') await delay(secondsOf(scenario) * 1_000, undefined, { ref: false });
  if (breakResponse === undefined) return changeResponse(scenario, response, next);
  breakResponse(response, scenario);
  return NEVER;
}

/** The account of the injected conflict. */
const EXISTING = ['5a4d0b0c-0000-4000-8000-0000000000ac', 'A-0'] as const;

/** The error that replaces the response, as the service itself makes it: the header names the scenario. */
function errorOf(scenario: InjectedScenario, response: Response): AppError | undefined {
  const message = `the sandbox injected the scenario ${scenario.name}`;
  const headers = { 'Retry-After': String(Math.ceil(secondsOf(scenario))) };
  switch (scenario.name) {
    case 'unauthorized':
      return new AppError('unauthorized', message);
    case 'too-many-requests':
      return new AppError('tooManyRequests', message, { headers });
    case 'server-error':
      return unexpected(response.getHeader('X-Request-Id'));
    case 'unavailable':
      return new AppError('unavailable', message, { headers });
    case 'conflict': {
      const { message: taken, details } = nameTaken(...EXISTING);
      return new AppError('conflict', taken, { details });
    }
    case 'rule-violated':
      return violated(SCALE_API, 'ruleViolated', [unknownMaterial(0)]);
    default:
      return undefined;
  }
}

/** Scenarios that write a broken response instead of the route's, or none. */
const BROKEN_RESPONSES: Readonly<Record<string, (response: Response, scenario: InjectedScenario) => void>> = {
  'cut-answer': (response) => {
    response.status(200).set({ 'Content-Type': JSON_TYPE, 'Content-Length': String(CUT_LENGTH) });
    response.write(BEGINNING, () => response.destroy());
  },
  'hanging-answer': (response, scenario) => {
    const timer = setTimeout(() => response.destroy(), secondsOf(scenario) * 1_000).unref();
    response.once('close', () => clearTimeout(timer));
  },
  'malformed-json': (response) => response.status(200).set('Content-Type', JSON_TYPE).end(BEGINNING),
  'html-answer': (response) => response.status(200).set('Content-Type', 'text/html; charset=utf-8').end(HTML),
};

/** Runs the route, and changes what is sent. */
function changeResponse({ name }: InjectedScenario, response: Response, next: CallHandler): Observable<unknown> {
  const result = next.handle() as Observable<unknown>;
  if (name === 'wrong-content-type') {
    return result.pipe(tap(() => response.setHeader('Content-Type', 'text/plain; charset=utf-8')));
  }
  if (name !== 'answer-lost') return result;
  // The route has committed. Nest sends the answer, which the caller no longer receives and the exchange log does.
  return result.pipe(tap(() => void response.destroy()));
}
