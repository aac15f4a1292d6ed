import { type AdminRoutes, FOR_OPERATORS_OF_ALL, FOR_VIEWERS_OF_ALL, route } from './route-helpers.js';
import {
  ActiveSandboxScenario,
  ActiveSandboxScenarios,
  AdvanceClockRequest,
  CLOCK_EXAMPLES,
  RunningScenarios,
  SandboxCatalogue,
  SandboxClock,
  SandboxCustomerParam,
  SandboxScenarioParam,
  SandboxSubjectParam,
  SCENARIO_EXAMPLES,
  StartScenarioRequest,
} from './sandbox.dto.js';

/** Scenarios of the sandbox, and the clock of the reference partner. */
export const SANDBOX_ROUTES = {
  listSandboxScenarios: route(FOR_VIEWERS_OF_ALL, 'GET', '/sandbox/scenarios', {
    summary: 'List the scenarios of the sandbox',
    description: 'The whole catalogue. 404 without `SANDBOX`, as every call of the sandbox.',
    response: SandboxCatalogue,
    fails: { notFound: 'SANDBOX is off' },
  }),
  listRunningScenarios: route(FOR_VIEWERS_OF_ALL, 'GET', '/sandbox', {
    summary: 'List the active scenarios of all haulers and customers',
    description:
      'The first 1,000, each with the name of the hauler whose calls it faults, and with what is left of it.',
    response: RunningScenarios,
    returns: 'The active scenarios',
    fails: { notFound: 'SANDBOX is off' },
  }),
  listActiveScenarios: route(FOR_VIEWERS_OF_ALL, 'GET', '/sandbox/{subject}/{subjectId}', {
    summary: 'List the active scenarios of a hauler or customer',
    description: 'With the requests and the time that are left.',
    params: SandboxSubjectParam,
    response: ActiveSandboxScenarios,
    returns: 'The active scenarios',
    fails: { notFound: 'SANDBOX is off' },
  }),
  startScenario: route(FOR_OPERATORS_OF_ALL, 'PUT', '/sandbox/{subject}/{subjectId}/scenarios/{name}', {
    summary: 'Start a scenario',
    description:
      'Acts on the requests of a hauler (Scale, Account, Site) or of a customer (Vision), and ends by itself: after 1,000 requests or 24 hours at most. Of several scenarios the one that started first acts.',
    params: SandboxScenarioParam,
    body: StartScenarioRequest,
    response: ActiveSandboxScenario,
    examples: SCENARIO_EXAMPLES,
    returns: 'The active scenario',
    fails: { notFound: 'The catalogue has no such scenario, or SANDBOX is off' },
  }),
  endScenario: route(FOR_OPERATORS_OF_ALL, 'DELETE', '/sandbox/{subject}/{subjectId}/scenarios/{name}', {
    summary: 'End a scenario',
    description: 'Also if it is not active.',
    params: SandboxScenarioParam,
    status: 204,
    returns: 'The scenario is not active',
    fails: { notFound: 'The catalogue has no such scenario, or SANDBOX is off' },
  }),
  advanceClock: route(FOR_OPERATORS_OF_ALL, 'POST', '/sandbox/customers/{customerId}/clock', {
    summary: "Move the reference partner's time forward for a customer",
    description:
      'By seconds, or to the next event, by 24 hours at most: the next clip is ready, all links issued so far have expired, or the newest recording ended six hours ago, after which the platform lists it again once a day at most.',
    params: SandboxCustomerParam,
    body: AdvanceClockRequest,
    response: SandboxClock,
    examples: CLOCK_EXAMPLES,
    returns: 'The new time',
    fails: { notFound: 'SANDBOX is off', conflict: 'There is no such event ahead' },
  }),
} as const satisfies AdminRoutes;
