import type { Request } from 'express';
import type { ApiContract, ApiRoute } from '../contracts/common/api-contract.js';
import type { InjectedScenario } from '../contracts/sandbox/scenarios.js';

/** A request of one of the four interfaces. `exchangeId` is absent if no exchange is recorded. */
export interface RecordedRequest extends Request {
  exchangeId?: string;
  /** The work of a call that was answered with 503 because it took too long: it may still be committed. */
  later?: Promise<unknown>;
}

/** Switches a scenario on for one request, and names it in the response. */
export const SCENARIO_HEADER = 'Sandbox-Scenario';

/** A request of one of the four interfaces. `scenario` names the fault that the sandbox injects into its response. */
export interface FaultedRequest extends Request {
  scenario?: InjectedScenario;
  /** The route does not run, and its caller gets no complete answer. */
  hasNoAnswer?: boolean;
}

/** A route as `@Route()` declares it. */
export interface Served {
  readonly api: ApiContract;
  readonly route: ApiRoute;
  /** Every status that the contract lists. */
  readonly statuses: ReadonlySet<number>;
}

/** A request that has reached the guard of a route. */
export interface ServedRequest extends Request {
  served?: Served;
}

export function servedBy({ served }: ServedRequest): Served {
  if (served === undefined) throw new Error('the handler has no @Route()');
  return served;
}
