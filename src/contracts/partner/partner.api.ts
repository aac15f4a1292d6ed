import { Connection } from '../admin/connection.dto.js';
import { ExplainedExchangeList } from '../admin/exchange.dto.js';
import { PartnerExchangeQuery } from '../admin/exchange-query.dto.js';
import { EXCHANGE_ROUTES } from '../admin/exchanges.routes.js';
import { SANDBOX_ROUTES } from '../admin/sandbox.routes.js';
import {
  ActiveSandboxScenarios,
  AdvanceClockRequest,
  CLOCK_EXAMPLES,
  SandboxClock,
  SandboxScenarioName,
} from '../admin/sandbox.dto.js';
import { COMMON_ERRORS, defineApi, type RouteDefinition } from '../common/api-contract.js';
import { INTERFACES, type InterfaceName } from '../common/interfaces.values.js';
import { Flag, Nested, OneOfList, Text, Time, Uuid } from '../common/fields/decorators.js';
import { example, nullable, optional } from '../common/fields/options.js';
import { PARTNER_SYNC_RUN_ROUTES } from './partner-connection.routes.js';
import { OwnAttention } from './own-attention.dto.js';
import { PARTNER_RECORD_ROUTES } from './partner-records.routes.js';
import { PARTNER_WEBHOOK_ROUTES } from './partner-webhooks.routes.js';
import { HaulerId } from '../admin/fields.js';

/** The interfaces and the owner of an API key. */
export class KeyDescription {
  @OneOfList('Interfaces that the key may call; none for a key of a connection', INTERFACES)
  interfaces!: InterfaceName[];
  @HaulerId(optional) haulerId?: string;
  @Uuid('Connection of the key, for a partner who hosts', optional) connectionId?: string;
  @Nested('The state of that connection', Connection, optional) connection?: Connection;
  @Text('The only customer that it may read in Vision', optional) customerId?: string;
  @Flag('True if it may read every customer in Vision', optional) allCustomers?: boolean;
  @Text('First characters of the key', example('hb_7Kq2mZ9x')) keyPrefix!: string;
  @Time('When it expires; after a rotation, the end of the overlap', nullable) expiresAt!: string | null;

  @Time(
    "When the hauler's sites and materials were last synchronised; for a key of a connection, when that connection was, or a partner's list of recordings was last read; null before the first time, absent for a key without a hauler",
    optional,
    nullable,
  )
  lastSynchronisation?: string | null;

  @Flag('Whether the sandbox is on') sandbox!: boolean;
}

const ROUTES = {
  getMe: {
    method: 'GET',
    path: '/me',
    summary: 'Read the rights of the key',
    description: 'Interfaces, hauler, connection, customer and expiry of the key of the call.',
    status: 200,
    response: KeyDescription,
    returns: 'The key',
  },
  getOwnAttention: {
    method: 'GET',
    path: '/attention',
    summary: 'List what needs attention of the connection',
    description:
      'One ranked list, from the checks that the admins of the platform see: failing calls, refused keys, synchronisations, lists that were not read, lost footage. `checked` names every check, also those that found nothing. It is at most 10 s old. For keys of a connection.',
    status: 200,
    response: OwnAttention,
    returns: 'What needs attention',
    fails: { notFound: 'The key is not that of a connection, or the connection was deleted' },
  },
  listOwnExchanges: {
    method: 'GET',
    path: '/exchanges',
    summary: 'List the calls with this key',
    description:
      'For a key of a connection the calls that the platform made to the partner. Newest first, also the refused and interrupted ones. `reference=ticketNumber:IN-204817` finds the result of a push. An unknown filter is 400.',
    query: PartnerExchangeQuery,
    status: 200,
    response: ExplainedExchangeList,
    returns: 'A page of exchanges',
  },
  getOwnExchange: {
    ...EXCHANGE_ROUTES.getExchange,
    summary: 'Read a call with this key',
    description:
      'With headers and bodies without secrets, and an explanation. For a key of a connection a call that the platform made.',
    fails: { notFound: 'This key has no exchange with this id, or its day is no longer kept' },
  },
  ...PARTNER_RECORD_ROUTES,
  ...PARTNER_SYNC_RUN_ROUTES,
  ...PARTNER_WEBHOOK_ROUTES,
  listOwnScenarios: SANDBOX_ROUTES.listSandboxScenarios,
  listOwnActiveScenarios: {
    method: 'GET',
    path: '/sandbox',
    summary: 'List the active scenarios of this key',
    description:
      'Those of the hauler and of the customer of the key, with the requests and the time that are left. A scenario that acts on both is listed once.',
    status: 200,
    response: ActiveSandboxScenarios,
    returns: 'The active scenarios',
    fails: { notFound: 'SANDBOX is off' },
  },
  startOwnScenario: {
    ...SANDBOX_ROUTES.startScenario,
    path: '/sandbox/scenarios/{name}',
    description:
      'Acts on the requests of the hauler and of the customer of the key, on the operations that the key opens, and ends by itself: after 1,000 requests or 24 hours at most.',
    params: SandboxScenarioName,
  },
  endOwnScenario: {
    ...SANDBOX_ROUTES.endScenario,
    path: '/sandbox/scenarios/{name}',
    params: SandboxScenarioName,
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
} as const satisfies Readonly<Record<string, RouteDefinition>>;

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
