import { Injectable } from '@nestjs/common';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import type {
  ActiveSandboxScenario,
  ActiveSandboxScenarios,
  SandboxCatalogue,
  StartScenarioRequest,
  Subject,
} from '../contracts/admin/sandbox.dto.js';
import {
  ROUTE_INTERFACES,
  type Scenario,
  SCENARIOS,
  type ScenarioName,
  scenarioNamed,
} from '../contracts/sandbox/scenarios.js';
import type { Violation } from '../contracts/common/violation.js';
import { apiError, invalid } from '../errors/app-error.js';
import { type ScenarioSubject, ScenariosRepository } from './scenarios.repository.js';

/** Starts, ends and lists scenarios. */
@Injectable()
export class SandboxService {
  constructor(private readonly scenarios: ScenariosRepository) {}

  catalogue(): SandboxCatalogue {
    return {
      data: Object.entries<Scenario>(SCENARIOS).map(([name, scenario]) => ({
        name,
        interface: oneOrMore([...new Set(scenario.routes.map((route) => ROUTE_INTERFACES[route]))]),
        route: oneOrMore([...scenario.routes]),
        description: scenario.description,
        parameters: scenario.parameters ?? {},
        magicValue: scenario.magicValue ?? null,
      })),
    };
  }

  async list(subject: ScenarioSubject): Promise<ActiveSandboxScenarios> {
    return { data: await this.scenarios.list(normalised(subject)) };
  }

  async start(subject: ScenarioSubject, name: string, request: StartScenarioRequest): Promise<ActiveSandboxScenario> {
    const scenario = this.known(name);
    const violations = violationsOf(subject.subject, scenario, request);
    if (violations.length > 0) throw invalid(violations);
    return this.scenarios.put(normalised(subject), name as ScenarioName, request);
  }

  async end(subject: ScenarioSubject, name: string): Promise<void> {
    this.known(name);
    await this.scenarios.remove(normalised(subject), name);
  }

  /** The scenario of this name, or `notFound`. */
  known(name: string): Scenario {
    const scenario = scenarioNamed(name);
    if (scenario === undefined) throw apiError(ADMIN_API, 'notFound', `the catalogue has no scenario ${name}`);
    return scenario;
  }
}

/** The kind of subject that the routes of a scenario belong to; both for one of every interface. */
export const subjectsOf = ({ routes }: Pick<Scenario, 'routes'>): ReadonlySet<Subject> =>
  new Set(routes.map((route) => (ROUTE_INTERFACES[route] === 'vision' ? 'customers' : 'haulers')));

const oneOrMore = (values: string[]): string | string[] => (values.length === 1 ? (values[0] ?? '') : values);

/** Hauler ids have one spelling; customers may be names. */
const normalised = ({ subject, subjectId }: ScenarioSubject): ScenarioSubject => ({
  subject,
  subjectId: subject === 'haulers' ? subjectId.toLowerCase() : subjectId,
});

function violationsOf(subject: Subject, scenario: Scenario, request: StartScenarioRequest): Violation[] {
  const found: Violation[] = [];
  if (!subjectsOf(scenario).has(subject)) {
    found.push({ path: 'subject', rule: 'isSubject', message: `this scenario does not act on ${subject}` });
  }
  if (request.times === undefined && request.forSeconds === undefined) {
    found.push({ path: 'times', rule: 'isBounded', message: 'times or forSeconds is required' });
  }
  for (const [name, value] of Object.entries(request.parameters ?? {})) {
    const message = parameterFault(scenario, name, value);
    if (message !== undefined) found.push({ path: `parameters.${name}`, rule: 'isParameter', message });
  }
  return found;
}

function parameterFault(scenario: Scenario, name: string, value: number | string): string | undefined {
  if (name === 'route') {
    const { routes } = scenario;
    return routes.some((route) => route === value) ? undefined : `parameters.route must be one of ${routes.join(', ')}`;
  }
  const known = scenario.parameters?.[name];
  if (known === undefined) return `this scenario has no parameter ${name}`;
  if (typeof value !== typeof known.default) return `parameters.${name} must be a ${typeof known.default}`;
  return name === 'seconds' && Number(value) > 86_400 ? 'parameters.seconds must be at most 86400' : undefined;
}
