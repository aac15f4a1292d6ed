import { IdParam } from '../admin/list.dto.js';
import { ExchangeDetail, ExchangeList, PartnerExchangeQuery } from '../admin/exchange.dto.js';
import {
  ActiveSandboxScenario,
  AdvanceClockRequest,
  CLOCK_EXAMPLES,
  SandboxCatalogue,
  SandboxClock,
  SandboxScenarioName,
  SCENARIO_EXAMPLES,
  StartScenarioRequest,
} from '../admin/sandbox.dto.js';
import type { AdminRoute } from '../admin/admin-route.js';
import { COMMON_ERRORS, defineApi } from '../common/api-contract.js';
import { KeyDescription } from './me.dto.js';

const NO_SANDBOX = 'The catalogue has no such scenario, or SANDBOX is off';

const ROUTES = {
  getMe: {
    method: 'GET',
    path: '/me',
    summary: 'Read what the key opens',
    description: 'Interfaces, hauler, customer and end of the key that the call carries.',
    status: 200,
    response: KeyDescription,
    returns: 'The key',
  },
  listOwnExchanges: {
    method: 'GET',
    path: '/exchanges',
    summary: 'List the calls with this key',
    description:
      'Newest first, also the refused and interrupted ones. `reference=ticketNumber:IN-204817` finds the result of a push. An unknown filter is 400.',
    query: PartnerExchangeQuery,
    status: 200,
    response: ExchangeList,
    returns: 'A page of exchanges',
  },
  getOwnExchange: {
    method: 'GET',
    path: '/exchanges/{id}',
    summary: 'Read a call with this key',
    description: 'With headers and bodies without secrets, and an explanation.',
    params: IdParam,
    status: 200,
    response: ExchangeDetail,
    returns: 'The exchange',
    fails: { notFound: 'This key has no exchange with this id, or its day is no longer kept' },
  },
  listOwnScenarios: {
    method: 'GET',
    path: '/sandbox/scenarios',
    summary: 'List the scenarios of the sandbox',
    description: 'The whole catalogue. 404 without `SANDBOX`, as every call of the sandbox.',
    status: 200,
    response: SandboxCatalogue,
    returns: 'The catalogue',
    fails: { notFound: 'SANDBOX is off' },
  },
  startOwnScenario: {
    method: 'PUT',
    path: '/sandbox/scenarios/{name}',
    summary: 'Start a scenario',
    description: 'Acts on the requests of the hauler and of the customer of the key, and ends by itself.',
    params: SandboxScenarioName,
    body: StartScenarioRequest,
    examples: SCENARIO_EXAMPLES,
    status: 200,
    response: ActiveSandboxScenario,
    returns: 'The active scenario',
    fails: { notFound: NO_SANDBOX },
  },
  endOwnScenario: {
    method: 'DELETE',
    path: '/sandbox/scenarios/{name}',
    summary: 'End a scenario',
    description: 'Also if it is not active.',
    params: SandboxScenarioName,
    status: 204,
    returns: 'The scenario is not active',
    fails: { notFound: NO_SANDBOX },
  },
  advanceOwnClock: {
    method: 'POST',
    path: '/sandbox/clock',
    summary: "Move the reference partner's time forward",
    description: 'For the customer of the key: by seconds, or to the next event.',
    body: AdvanceClockRequest,
    examples: CLOCK_EXAMPLES,
    status: 200,
    response: SandboxClock,
    returns: 'The new time',
    fails: { notFound: 'SANDBOX is off', conflict: 'There is no such event ahead' },
  },
} as const satisfies Readonly<Record<string, AdminRoute>>;

/** The calls that a partner makes for itself with its own key, in either key header. */
export const PARTNER_API = defineApi({
  name: 'partner',
  title: 'Partner API',
  version: '1.0.0',
  prefix: '/partner/v1',
  keyHeader: 'PLATFORM-API-KEY',
  routes: ROUTES,
  codes: ['INVALID_PAYLOAD', 'UNAUTHORIZED', 'NOT_FOUND', 'CONFLICT', 'INTERNAL_ERROR'],
  errors: { ...COMMON_ERRORS, notFound: 'NOT_FOUND', conflict: 'CONFLICT' },
});

export type PartnerRouteName = keyof typeof ROUTES;

/** The routes by name, without the exact types of each. */
export const PARTNER_ROUTES: Readonly<Record<PartnerRouteName, AdminRoute>> = ROUTES;
