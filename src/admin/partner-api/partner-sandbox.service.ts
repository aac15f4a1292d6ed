import { Injectable } from '@nestjs/common';
import type { Principal } from '../../core/http/principal.js';
import type {
  ActiveSandboxScenario,
  ActiveSandboxScenarios,
  StartScenarioRequest,
} from '../../contracts/admin/sandbox.routes.js';
import { ROUTE_INTERFACES, SCENARIO_ROUTES, type ScenarioRoute } from '../../contracts/sandbox/scenarios.js';
import { type AppError, invalid } from '../../core/errors/app-error.js';
import { routesOf, SandboxService } from '../../reference-partner/sandbox/sandbox.service.js';
import type { ScenarioSubject } from '../../reference-partner/sandbox/scenarios.repository.js';

/** The sandbox for the hauler and the customer of a partner's key. */
@Injectable()
export class PartnerSandbox {
  constructor(private readonly sandbox: SandboxService) {}

  /** For the hauler, the customer or both, as the scenario acts on them. */
  async start(caller: Principal, name: string, request: StartScenarioRequest): Promise<ActiveSandboxScenario> {
    const opened = openedBy(caller);
    const [first, ...others] = this.subjects(caller, name);
    if (first === undefined) throw outOfReach('the key opens no interface on which this scenario acts');
    const started = await this.sandbox.start(first, name, request, opened);
    for (const subject of others) await this.sandbox.start(subject, name, request, opened);
    return started;
  }

  /** Those that act on an operation of the key, each once. */
  async active(caller: Principal): Promise<ActiveSandboxScenarios> {
    const opened = openedBy(caller);
    const subjects = reachOf(caller).filter((each) => each !== undefined);
    const lists = await Promise.all(subjects.map((subject) => this.sandbox.list(subject)));
    const all = lists.flatMap(({ data }, index) =>
      data.filter(({ name }) => routesOf(this.sandbox.known(name), subjects[index]!.subject, opened).length > 0),
    );
    return { data: [...new Map(all.map((each) => [each.name, each])).values()] };
  }

  async end(caller: Principal, name: string): Promise<void> {
    for (const subject of this.subjects(caller, name)) await this.sandbox.end(subject, name, openedBy(caller));
  }

  /** The customer whose clock the key may move. */
  customerOf(caller: Principal): string {
    const [, customer] = reachOf(caller);
    if (customer === undefined) throw outOfReach('the key opens the videos of no single customer');
    return customer.subjectId;
  }

  private subjects(caller: Principal, name: string): ScenarioSubject[] {
    const scenario = this.sandbox.known(name);
    const opened = openedBy(caller);
    return reachOf(caller).filter(
      (each): each is ScenarioSubject => each !== undefined && routesOf(scenario, each.subject, opened).length > 0,
    );
  }
}

/** The operations that a key may call. */
const openedBy = ({ interfaces }: Principal): ScenarioRoute[] =>
  SCENARIO_ROUTES.filter((route) => interfaces.has(ROUTE_INTERFACES[route]));

/** The hauler and the customer of a key. The customer of a vision key without one is its hauler. */
function reachOf({ interfaces, haulerId, customerId }: Principal): [ScenarioSubject?, ScenarioSubject?] {
  const hasHauler = haulerId !== null && (['scale', 'account', 'site'] as const).some((name) => interfaces.has(name));
  const customer = interfaces.has('vision') ? (customerId ?? haulerId) : null;
  return [
    hasHauler ? { subject: 'haulers', subjectId: haulerId } : undefined,
    customer === null ? undefined : { subject: 'customers', subjectId: customer },
  ];
}

const outOfReach = (reason: string): AppError =>
  invalid([
    { path: '', rule: 'isWithinKey', message: `${reason}; the header Sandbox-Scenario and magic values work with it` },
  ]);
