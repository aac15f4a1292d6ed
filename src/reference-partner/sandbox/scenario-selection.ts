import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { isJsonObject } from '../../contracts/common/json.js';
import {
  type InjectedScenario,
  magicScenario,
  ROUTE_INTERFACES,
  type ScenarioName,
  scenarioNamed,
  type ScenarioRoute,
} from '../../contracts/sandbox/scenarios.js';
import { invalid } from '../../core/errors/app-error.js';
import { type Call, SCENARIO_HEADER } from '../../core/http/call.js';
import { readJsonText } from '../../core/http/json-body.js';
import {
  type ActiveScenario,
  type ScenarioSubject,
  ScenariosRepository,
  START_NOTICE_MS,
} from './scenarios.repository.js';

/** Occurs in the site of every magic value: the text of most tickets need not be parsed. */
const MAGIC_SITE = /5a4d0b0c-0000-4000-8000-/i;

type Input = Readonly<Record<string, unknown>>;

/** The operation of a request; undefined outside the four interfaces. */
export const routeOf = ({ served }: Call): ScenarioRoute | undefined =>
  served?.route.role === 'key' ? (served.route.operation as ScenarioRoute) : undefined;

/** Chooses the scenario of a request: by the header, by a magic value, or by the table. */
@Injectable()
export class ScenarioSelection {
  private active: readonly ActiveScenario[] | Promise<readonly ActiveScenario[]> = [];
  private readAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly scenarios: ScenariosRepository) {}

  /** A promise only if the body has not arrived, or a scenario may be active. */
  select(route: ScenarioRoute, request: Request): InjectedScenario | undefined | Promise<InjectedScenario | undefined> {
    const named = request.headers[SCENARIO_HEADER.toLowerCase()];
    if (named !== undefined) return { name: checkedName(String(named), route), parameters: {} };
    const input = inputOf(route, request);
    if (input instanceof Promise) return input.then((read) => this.choose(route, request, read));
    return this.choose(route, request, input);
  }

  private choose(route: ScenarioRoute, request: Request, input: Input) {
    const name = magicScenario(route, input);
    if (name !== undefined) return { name, parameters: {} };
    const subject = subjectOf(route, request.call, input);
    if (subject === undefined) return undefined;
    // Only now, because a read that fails and that no caller awaits ends the process.
    const all = this.activeNow();
    return Array.isArray(all) && all.length === 0 ? undefined : this.take(route, subject, input, all);
  }

  private async take(
    route: ScenarioRoute,
    { subject, subjectId }: ScenarioSubject,
    input: Input,
    all: ReturnType<ScenarioSelection['activeNow']>,
  ): Promise<ActiveScenario | undefined> {
    for (const active of await all) {
      if (active.subject !== subject || active.subjectId !== subjectId || !actsOn(active, route, input)) continue;
      if (await this.scenarios.take(active)) return active;
    }
    return undefined;
  }

  /** Reads the table at most every `START_NOTICE_MS`. Concurrent requests share one statement. */
  private activeNow(): readonly ActiveScenario[] | Promise<readonly ActiveScenario[]> {
    const now = performance.now();
    if (now - this.readAt < START_NOTICE_MS) return this.active;
    this.readAt = now;
    const reading = this.scenarios.active().then((active) => {
      if (this.active === reading) this.active = active;
      return active;
    });
    this.active = reading;
    return reading;
  }
}

function checkedName(name: string, route: ScenarioRoute): ScenarioName {
  if (scenarioNamed(name)?.routes.includes(route) === true) return name as ScenarioName;
  const message = `${SCENARIO_HEADER} must name a scenario of this operation; the catalogue lists them`;
  throw invalid([{ path: SCENARIO_HEADER, rule: 'isScenario', message }]);
}

/** Whether the scenario acts on this request. `shifting-pages` acts on later pages only. */
function actsOn({ name, routes, parameters }: ActiveScenario, route: ScenarioRoute, input: Input): boolean {
  if (!routes.includes(route)) return false;
  if (parameters['route'] !== undefined && parameters['route'] !== route) return false;
  return name !== 'shifting-pages' || Number(input['page'] ?? 1) > 1;
}

/** The query, or the fields of the body. A malformed body has none: the route refuses it. */
function inputOf(route: ScenarioRoute, request: Request): Input | Promise<Input> {
  if (route === 'createAccount') return {};
  if (route !== 'createTicket' && route !== 'requestVideo') return request.query;
  const text = readJsonText(request);
  return text instanceof Promise ? text.then((read) => bodyInputOf(route, read)) : bodyInputOf(route, text);
}

function bodyInputOf(route: ScenarioRoute, text: string): Input {
  if (route === 'createTicket' && !MAGIC_SITE.test(text)) return {};
  try {
    const body: unknown = JSON.parse(text);
    if (!isJsonObject(body)) return {};
    const { siteId, ...others } = body;
    return { ...others, siteId: typeof siteId === 'string' ? siteId.toLowerCase() : undefined };
  } catch {
    return {};
  }
}

/** The hauler or customer that the request is about, within the limits of its key. */
function subjectOf(route: ScenarioRoute, { principal }: Call, input: Input): ScenarioSubject | undefined {
  const isVision = ROUTE_INTERFACES[route] === 'vision';
  const limit = (isVision ? principal?.customerId : principal?.haulerId) ?? undefined;
  const given = route === 'getSites' ? input['haulerId'] : isVision ? input['customerId'] : limit;
  if (typeof given !== 'string') return undefined;
  const subjectId = isVision ? given : given.toLowerCase();
  if (limit !== undefined && limit !== subjectId) return undefined;
  return { subject: isVision ? 'customers' : 'haulers', subjectId };
}
