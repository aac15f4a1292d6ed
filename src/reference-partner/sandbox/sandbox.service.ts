import { Injectable } from '@nestjs/common';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import {
  type ActiveSandboxScenario,
  type ActiveSandboxScenarios,
  MAX_SANDBOX_SECONDS,
  type RunningScenarios,
  type SandboxCatalogue,
  type StartScenarioRequest,
  type Subject,
} from '../../contracts/admin/sandbox.routes.js';
import {
  ROUTE_INTERFACES,
  type Scenario,
  SCENARIO_ROUTES,
  type ScenarioName,
  scenarioNamed,
  type ScenarioRoute,
  SCENARIOS,
} from '../../contracts/sandbox/scenarios.js';
import { formatInstant } from '../../contracts/common/instant.js';
import type { Violation } from '../../contracts/common/violation.js';
import { apiError, invalid } from '../../core/errors/app-error.js';
import { type ScenarioRow, ScenariosRepository, type ScenarioSubject } from './scenarios.repository.js';

/** Starts, ends and lists scenarios. */
@Injectable()
export class SandboxService {
  constructor(private readonly scenarios: ScenariosRepository) {}

  catalogue(): SandboxCatalogue {
    return {
      data: Object.entries<Scenario>(SCENARIOS).map(([name, scenario]) => ({
        name,
        interface: [...new Set(scenario.routes.map((route) => ROUTE_INTERFACES[route]))],
        route: [...scenario.routes],
        description: scenario.description,
        parameters: scenario.parameters ?? {},
        magicValue: scenario.magicValue ?? null,
      })),
    };
  }

  /** Of all haulers and customers. */
  async running(): Promise<RunningScenarios> {
    const rows = await this.scenarios.running();
    return {
      data: rows.map((row) => {
        const { subject, subjectId, haulerName } = row;
        return { ...toScenarioDto(row), subject, subjectId, haulerName };
      }),
    };
  }

  async list(subject: ScenarioSubject): Promise<ActiveSandboxScenarios> {
    return { data: (await this.scenarios.list(normalised(subject))).map(toScenarioDto) };
  }

  /** The scenario acts on the operations that the caller opens. */
  async start(
    subject: ScenarioSubject,
    name: string,
    request: StartScenarioRequest,
    opened: readonly ScenarioRoute[] = SCENARIO_ROUTES,
  ): Promise<ActiveSandboxScenario> {
    const scenario = this.known(name);
    const violations = violationsOf(subject.subject, scenario, request, opened);
    if (violations.length > 0) throw invalid(violations);
    const scoped = { name: name as ScenarioName, routes: routesOf(scenario, subject.subject, opened) };
    return toScenarioDto(await this.scenarios.put(normalised(subject), scoped, request));
  }

  /** Ends a scenario. One that acts on more than the operations that the caller opens continues. */
  async end(subject: ScenarioSubject, name: string, opened: readonly ScenarioRoute[] = SCENARIO_ROUTES): Promise<void> {
    const routes = routesOf(this.known(name), subject.subject, opened);
    await this.scenarios.remove(normalised(subject), { name: name as ScenarioName, routes });
  }

  /** The scenario of this name, or `notFound`. */
  known(name: string): Scenario {
    const scenario = scenarioNamed(name);
    if (scenario === undefined) throw apiError(ADMIN_API, 'notFound', `the catalogue has no scenario ${name}`);
    return scenario;
  }
}

/** The operations of a scenario on a hauler or customer, of those that the caller opens. */
export const routesOf = (
  { routes }: Pick<Scenario, 'routes'>,
  subject: Subject,
  opened: readonly ScenarioRoute[] = SCENARIO_ROUTES,
): ScenarioRoute[] =>
  routes.filter(
    (route) => (ROUTE_INTERFACES[route] === 'vision') === (subject === 'customers') && opened.includes(route),
  );

function toScenarioDto({
  subject,
  name,
  routes,
  parameters,
  remainingTimes,
  endsAt,
}: ScenarioRow): ActiveSandboxScenario {
  const isRestricted = routes.length < routesOf(SCENARIOS[name], subject).length;
  return {
    name,
    parameters,
    remainingTimes,
    endsAt: endsAt === null ? null : formatInstant(endsAt),
    ...(isRestricted ? { routes: [...routes] } : {}),
  };
}

/** Hauler ids have one spelling; customers may be names. */
const normalised = ({ subject, subjectId }: ScenarioSubject): ScenarioSubject => ({
  subject,
  subjectId: subject === 'haulers' ? subjectId.toLowerCase() : subjectId,
});

function violationsOf(
  subject: Subject,
  scenario: Scenario,
  request: StartScenarioRequest,
  opened: readonly ScenarioRoute[],
): Violation[] {
  const found: Violation[] = [];
  if (routesOf(scenario, subject).length === 0) {
    found.push({ path: 'subject', rule: 'isSubject', message: `this scenario does not act on ${subject}` });
  }
  if (request.times === undefined && request.forSeconds === undefined) {
    found.push({ path: 'times', rule: 'isBounded', message: 'times or forSeconds is required' });
  }
  for (const [name, value] of Object.entries(request.parameters ?? {})) {
    const message = parameterFault(scenario, name, value, opened);
    if (message !== undefined) found.push({ path: `parameters.${name}`, rule: 'isParameter', message });
  }
  return found;
}

function parameterFault(
  scenario: Scenario,
  name: string,
  value: number | string,
  opened: readonly ScenarioRoute[],
): string | undefined {
  if (name === 'route') {
    const routes = scenario.routes.filter((route) => opened.includes(route));
    return routes.some((route) => route === value) ? undefined : `parameters.route must be one of ${routes.join(', ')}`;
  }
  const known = scenario.parameters?.[name];
  if (known === undefined) return `this scenario has no parameter ${name}`;
  if (typeof value !== typeof known.default) return `parameters.${name} must be a ${typeof known.default}`;
  if (name !== 'seconds' || Number(value) <= MAX_SANDBOX_SECONDS) return undefined;
  return `parameters.seconds must be at most ${MAX_SANDBOX_SECONDS}`;
}
