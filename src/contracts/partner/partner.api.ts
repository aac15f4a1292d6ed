import { Connection } from '../admin/connections.routes.js';
import {
  EXCHANGE_ROUTES,
  ExchangeDetail,
  ExplainedExchangeList,
  PartnerExchangeQuery,
} from '../admin/exchanges.routes.js';
import { IdParam } from '../admin/list.dto.js';
import {
  ActiveSandboxScenario,
  ActiveSandboxScenarios,
  AdvanceClockRequest,
  CLOCK_EXAMPLES,
  SANDBOX_ROUTES,
  SandboxCatalogue,
  SandboxClock,
  SandboxScenarioName,
  SCENARIO_EXAMPLES,
  StartScenarioRequest,
} from '../admin/sandbox.routes.js';
import { FOR_PARTNERS, own, route } from '../admin/route-helpers.js';
import { COMMON_ERRORS, defineApi, type RouteDefinition } from '../common/api-contract.js';
import { type InterfaceName, INTERFACES } from '../common/interfaces.values.js';
import { Flag, Integer, Nested, NestedList, OneOf, OneOfList, Text, Time, Uuid } from '../common/fields/decorators.js';
import { example, nullable, optional } from '../common/fields/options.js';
import { PARTNER_CONNECTION_ROUTES, PARTNER_RECORD_ROUTES } from './partner-connection.routes.js';
import { PARTNER_WEBHOOK_ROUTES } from './partner-webhooks.routes.js';
import { HaulerId } from '../admin/fields.js';
import { AttentionFacts, CheckResult } from '../admin/attention.routes.js';

const OF_EVERY_PARTNER = ['refused-keys', 'failing-calls'] as const;

/** What a partner sees of its connection: nothing of holds, of other partners or of the platform itself. */
export const OWN_ATTENTION_KINDS = {
  site: [...OF_EVERY_PARTNER, 'failing-runs', 'held-runs', 'quarantined-records', 'absent-lists'],
  vision: [
    ...OF_EVERY_PARTNER,
    'unread-windows',
    'downloads-at-risk',
    'failed-downloads',
    'expired-downloads',
    'failed-clips',
  ],
} as const;
export type OwnAttentionKind = (typeof OWN_ATTENTION_KINDS)['site' | 'vision'][number];

const OWN_KINDS = [...new Set([...OWN_ATTENTION_KINDS.site, ...OWN_ATTENTION_KINDS.vision])];

/** Something of the connection that its partner should look at. */
export class OwnAttentionItem extends AttentionFacts {
  @OneOf('The check', OWN_KINDS, example('failing-calls')) kind!: OwnAttentionKind;
}

/** One check of the connection, whether it found something or not. */
class OwnCheckedKind extends CheckResult {
  @OneOf('The check', OWN_KINDS, example('failing-calls')) kind!: OwnAttentionKind;
}

/** What needs attention of a connection, and what was looked at. */
export class OwnAttention {
  @NestedList('By severity, then the nearest deadline, then the latest begin first', OwnAttentionItem)
  data!: OwnAttentionItem[];
  @Integer('Number of items; those beyond the list are of the lowest rank', example(3)) total!: number;
  @Integer('Number of problems: findings with one cause are one', example(2)) problems!: number;
  @NestedList('Each kind that is checked for this interface, once', OwnCheckedKind) checked!: OwnCheckedKind[];
}

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

const SANDBOX_OFF = { notFound: 'SANDBOX is off' };

const ROUTES = {
  getMe: route(FOR_PARTNERS, 'GET', '/me', {
    summary: 'Read the rights of the key',
    description: 'Interfaces, hauler, connection, customer and expiry of the key of the call.',
    response: KeyDescription,
    returns: 'The key',
  }),
  getOwnAttention: route(FOR_PARTNERS, 'GET', '/attention', {
    summary: 'List what needs attention of the connection',
    description:
      'One ranked list, from the checks that the admins of the platform see: failing calls, refused keys, synchronisations, lists that were not read, lost footage. `checked` names every check, also those that found nothing. It is at most 10 s old. For keys of a connection.',
    response: OwnAttention,
    returns: 'What needs attention',
    fails: { notFound: 'The key is not that of a connection, or the connection was deleted' },
  }),
  listOwnExchanges: route(FOR_PARTNERS, 'GET', '/exchanges', {
    summary: 'List the calls with this key',
    description:
      'For a key of a connection the calls that the platform made to the partner. Newest first, also the refused and interrupted ones. `reference=ticketNumber:IN-204817` finds the result of a push. An unknown filter is 400.',
    query: PartnerExchangeQuery,
    response: ExplainedExchangeList,
    returns: 'A page of exchanges',
  }),
  getOwnExchange: own(EXCHANGE_ROUTES.getExchange, {
    summary: 'Read a call with this key',
    description:
      'With headers and bodies without secrets, and an explanation. For a key of a connection a call that the platform made.',
    params: IdParam,
    response: ExchangeDetail,
    fails: { notFound: 'This key has no exchange with this id, or its day is no longer kept' },
  }),
  ...PARTNER_RECORD_ROUTES,
  ...PARTNER_CONNECTION_ROUTES,
  ...PARTNER_WEBHOOK_ROUTES,
  listOwnScenarios: own(SANDBOX_ROUTES.listSandboxScenarios, { response: SandboxCatalogue, fails: SANDBOX_OFF }),
  listOwnActiveScenarios: route(FOR_PARTNERS, 'GET', '/sandbox', {
    summary: 'List the active scenarios of this key',
    description:
      'Those of the hauler and of the customer of the key, with the requests and the time that are left. A scenario that acts on both is listed once.',
    response: ActiveSandboxScenarios,
    returns: 'The active scenarios',
    fails: SANDBOX_OFF,
  }),
  startOwnScenario: route(FOR_PARTNERS, 'PUT', '/sandbox/scenarios/{name}', {
    summary: SANDBOX_ROUTES.startScenario.summary,
    description:
      'Acts on the requests of the hauler and of the customer of the key, on the operations that the key opens, and ends by itself: after 1,000 requests or 24 hours at most.',
    params: SandboxScenarioName,
    body: StartScenarioRequest,
    examples: SCENARIO_EXAMPLES,
    response: ActiveSandboxScenario,
    returns: 'The active scenario',
    fails: SANDBOX_ROUTES.startScenario.fails,
  }),
  endOwnScenario: route(FOR_PARTNERS, 'DELETE', '/sandbox/scenarios/{name}', {
    summary: SANDBOX_ROUTES.endScenario.summary,
    description: SANDBOX_ROUTES.endScenario.description,
    params: SandboxScenarioName,
    status: 204,
    returns: 'The scenario is not active',
    fails: SANDBOX_ROUTES.endScenario.fails,
  }),
  advanceOwnClock: route(FOR_PARTNERS, 'POST', '/sandbox/clock', {
    summary: "Move the reference partner's time forward",
    description: 'For the customer of the key: by seconds, or to the next event.',
    body: AdvanceClockRequest,
    examples: CLOCK_EXAMPLES,
    response: SandboxClock,
    returns: 'The new time',
    fails: { ...SANDBOX_OFF, conflict: 'There is no such event ahead' },
  }),
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
