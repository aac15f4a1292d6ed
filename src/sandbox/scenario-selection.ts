import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { ACCOUNT_API } from '../contracts/account/account.api.js';
import { isJsonObject } from '../contracts/common/json.js';
import { withoutFinalSlashes } from '../contracts/common/text.js';
import {
  type InjectedScenario,
  magicScenario,
  ROUTE_INTERFACES,
  type ScenarioName,
  scenarioNamed,
  type ScenarioRoute,
} from '../contracts/sandbox/scenarios.js';
import { SCALE_API } from '../contracts/scale/scale.api.js';
import { SITE_API } from '../contracts/site/site.api.js';
import { VISION_API } from '../contracts/vision/vision.api.js';
import { invalid } from '../errors/app-error.js';
import type { FaultedRequest } from '../http/faulted-request.js';
import { readJsonText } from '../http/json-body.js';
import { type ActiveScenario, type ScenarioSubject, ScenariosRepository } from './scenarios.repository.js';

/** Switches a scenario on for one request, and names it in the response. */
export const SCENARIO_HEADER = 'Sandbox-Scenario';

/** Occurs in the site of every magic value: the text of most tickets need not be parsed. */
const MAGIC_SITE = '5a4d0b0c-0000-4000-8000-';

/** A request whose caller a guard has identified. */
interface IdentifiedRequest extends FaultedRequest {
  principal?: { readonly haulerId: string | null; readonly customerId: string | null };
}

type Input = Readonly<Record<string, unknown>>;

const ROUTES: ReadonlyMap<string, ScenarioRoute> = new Map(
  [SCALE_API, ACCOUNT_API, SITE_API, VISION_API].flatMap((api) =>
    Object.entries(api.routes as Readonly<Record<string, { method: string; path: string }>>).map(
      ([name, { method, path }]): [string, ScenarioRoute] => [`${method} ${api.prefix}${path}`, name as ScenarioRoute],
    ),
  ),
);

/** The operation of a request; undefined outside the four interfaces. */
export const routeOf = ({ method, path }: FaultedRequest): ScenarioRoute | undefined =>
  ROUTES.get(`${method === 'HEAD' ? 'GET' : method} ${withoutFinalSlashes(path.toLowerCase())}`);

/** Chooses the scenario of a request: by the header, by a magic value, or by the table. */
@Injectable()
export class ScenarioSelection {
  private running: Promise<unknown> = Promise.resolve();
  private next: Promise<ActiveScenario[]> | undefined;

  constructor(private readonly scenarios: ScenariosRepository) {}

  async select(
    route: ScenarioRoute,
    request: IdentifiedRequest,
    response: Response,
  ): Promise<InjectedScenario | undefined> {
    const named = request.headers[SCENARIO_HEADER.toLowerCase()];
    if (named !== undefined) return { name: checkedName(String(named), route), parameters: {} };
    const input = await inputOf(route, request, response);
    const name = magicScenario(route, input);
    if (name !== undefined) return { name, parameters: {} };
    const subject = subjectOf(route, request, input);
    return subject === undefined ? undefined : this.take(route, subject, input);
  }

  private async take(route: ScenarioRoute, of: ScenarioSubject, input: Input): Promise<ActiveScenario | undefined> {
    const { subject, subjectId } = of;
    for (const active of await this.active()) {
      if (active.subject !== subject || active.subjectId !== subjectId || !actsOn(active, route, input)) continue;
      if (await this.scenarios.take(active)) return active;
    }
    return undefined;
  }

  /** Concurrent requests share one statement, which starts after each of them has arrived. */
  private active(): Promise<ActiveScenario[]> {
    this.next ??= this.running
      .catch(() => undefined)
      .then(() => {
        const load = this.scenarios.active();
        this.running = load;
        this.next = undefined;
        return load;
      });
    return this.next;
  }
}

function checkedName(name: string, route: ScenarioRoute): ScenarioName {
  if (scenarioNamed(name)?.routes.includes(route) === true) return name as ScenarioName;
  const message = `${SCENARIO_HEADER} must name a scenario of this operation; the catalogue lists them`;
  throw invalid([{ path: SCENARIO_HEADER, rule: 'isScenario', message }]);
}

/** The first page cannot shift. */
function actsOn({ name, parameters }: ActiveScenario, route: ScenarioRoute, input: Input): boolean {
  if (scenarioNamed(name)?.routes.includes(route) !== true) return false;
  if (parameters['route'] !== undefined && parameters['route'] !== route) return false;
  return name !== 'shifting-pages' || Number(input['page'] ?? 1) > 1;
}

/** The query, or the fields of the body. A malformed body has none: the route refuses it. */
async function inputOf(route: ScenarioRoute, request: FaultedRequest, response: Response): Promise<Input> {
  if (route === 'createAccount') return {};
  if (route !== 'createTicket' && route !== 'requestVideo') return request.query;
  const text = await readJsonText(request, response);
  if (route === 'createTicket' && !text.toLowerCase().includes(MAGIC_SITE)) return {};
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
function subjectOf(route: ScenarioRoute, { principal }: IdentifiedRequest, input: Input): ScenarioSubject | undefined {
  const isVision = ROUTE_INTERFACES[route] === 'vision';
  const limit = (isVision ? principal?.customerId : principal?.haulerId) ?? undefined;
  const given = route === 'getSites' ? input['haulerId'] : isVision ? input['customerId'] : limit;
  if (typeof given !== 'string') return undefined;
  const subjectId = isVision ? given : given.toLowerCase();
  if (limit !== undefined && limit !== subjectId) return undefined;
  return { subject: isVision ? 'customers' : 'haulers', subjectId };
}
