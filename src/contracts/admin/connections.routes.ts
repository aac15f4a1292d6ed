import {
  Flag,
  Integer,
  Name,
  Nested,
  NestedList,
  OneOf,
  Text,
  TextList,
  Time,
  Uuid,
} from '../common/fields/decorators.js';
import { between, example, inQuery, max, min, nullable, optional, type TextOptions } from '../common/fields/options.js';
import { ListQuery } from './list.dto.js';
import { HAULER, HaulerId } from './fields.js';
import { MAX_PARTNER_ID } from '../common/answer-limits.js';
import {
  type AdminRoutes,
  change,
  create,
  FOR_ADMINS,
  FOR_OPERATORS,
  FOR_VIEWERS,
  list,
  one,
  removeWithPreview,
} from './route-helpers.js';
import { RequestedSyncRun } from './sync-runs.routes.js';

export const PARTNER_INTERFACES = ['site', 'vision'] as const;
export type PartnerInterface = (typeof PARTNER_INTERFACES)[number];

/** It is in the key of a table, whose entries have at most 2,704 bytes. */
const MAX_CUSTOMER = 600;
const CUSTOMER = 'green-valley';
const BASE_URL = 'https://partner.example.com';
const KEY = 'pk_live_5f0c1f2e7a3b4c8d';

const BaseUrl = (more = '', ...options: readonly TextOptions[]) =>
  Text(
    `Address of the partner; a path in it precedes the path of the contract${more}`,
    max(2048),
    { format: 'uri' },
    example(BASE_URL),
    ...options,
  );

/** A key must be a valid value of an HTTP header. */
const PartnerKey = (description: string, ...options: readonly TextOptions[]) =>
  Text(
    description,
    between(1, 4096),
    { pattern: /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/, form: 'visible ASCII text' },
    example(KEY),
    ...options,
  );

const PAUSED =
  'A paused connection still executes requests of an admin: a synchronisation, a video request, and downloads of listed recordings';

class ConnectionSettings {
  @Name(
    "Customer as the partner's video service names it; default: the hauler's id",
    max(MAX_CUSTOMER),
    optional,
    example(CUSTOMER),
  )
  customerId?: string;
  @Integer(
    'Seconds between runs: of a site connection 60 to 86400, default 900; of a vision connection the read interval of each new subscription, at least 30, default 300',
    between(30, 86_400),
    optional,
    example(900),
  )
  intervalSeconds?: number;
  @Integer(
    'Of a vision connection: seconds that the host of a file has for its answer, and then for the first byte; 0: `VISION_FIRST_BYTE_TIMEOUT`, the default',
    max(3_600),
    optional,
    example(300),
  )
  firstByteTimeoutSeconds?: number;
}

export class CreateConnectionRequest extends ConnectionSettings {
  @Uuid('Hauler whose data the partner provides', example(HAULER)) haulerId!: string;
  @OneOf('Interface that the partner hosts', PARTNER_INTERFACES) interface!: PartnerInterface;
  @BaseUrl() baseUrl!: string;
  @PartnerKey('Key that the partner issued to the platform; never shown again') apiKey!: string;
  @Flag(`Whether it runs on schedule; default true. ${PAUSED}`, optional) enabled?: boolean;
}

/** A request with all fields is invalid, because `customerId` is for vision only. */
const NEW_CONNECTIONS = {
  site: {
    summary: 'A partner of the Site API',
    value: { haulerId: HAULER, interface: 'site', baseUrl: BASE_URL, apiKey: KEY, intervalSeconds: 900 },
  },
  vision: {
    summary: 'A partner of the Vision API',
    value: { haulerId: HAULER, interface: 'vision', baseUrl: BASE_URL, apiKey: KEY, customerId: CUSTOMER },
  },
};

/** Absent fields stay the same. */
export class UpdateConnectionRequest extends ConnectionSettings {
  @BaseUrl('. Another scheme, host or port needs `apiKey`, and deletes the stored next key', optional) baseUrl?: string;
  @PartnerKey('Replaces the current key at once. Required with a `baseUrl` of another scheme, host or port', optional)
  apiKey?: string;
  @PartnerKey('Used when the partner refuses the current key, and current from then on', optional) nextApiKey?: string;
  @Flag(`false pauses it. ${PAUSED}`, optional, example(false)) enabled?: boolean;
}

const CONNECTION_CHANGES = {
  pause: { summary: 'Pause it', value: { enabled: false } },
  resume: { summary: 'Resume it, every half hour', value: { enabled: true, intervalSeconds: 1800 } },
  slow: { summary: 'Cameras that wake up slowly', value: { firstByteTimeoutSeconds: 300 } },
  key: { summary: 'The next key of a rotation', value: { nextApiKey: KEY } },
  move: { summary: 'Another host, with its key', value: { baseUrl: BASE_URL, apiKey: KEY } },
};

export class ConnectionQuery extends ListQuery {
  @Uuid('Connections of this hauler only', optional) haulerId?: string;
  @OneOf('Connections of this interface only', PARTNER_INTERFACES, optional) interface?: PartnerInterface;
  @Flag('true: connections whose last run failed; false: all others', inQuery, optional) failing?: boolean;
}

const HEALTH_STATES = ['working', 'failing', 'paused', 'unknown'] as const;

/** Whether the partner answers: from its calls, without downloads, replays and the faults of the sandbox. */
export class ConnectionHealth {
  @OneOf('By the last call, or the last run; `unknown`: none is known', HEALTH_STATES, example('failing'))
  state!: (typeof HEALTH_STATES)[number];
  @Time('The last call that succeeded; null if none is kept', nullable) lastSuccessAt!: string | null;
  @Time('The last call that failed; null if none is kept', nullable) lastFailureAt!: string | null;
  @Uuid('The exchange of that call', optional) lastFailureId?: string;
  @Text('Why it failed', optional, example('The partner did not accept our API key.')) lastFailure?: string;
  @Time('Start of the counted hours: the last 24, the current one included') since!: string;
  @Integer('Calls of these hours; 0 unless `EXCHANGE_LOG` is `all`', example(288)) calls!: number;
  @Integer('Those of them that failed', example(3)) failedCalls!: number;
}

/** A connection, without its keys. */
export class Connection {
  @Uuid('Id of the connection') id!: string;
  @HaulerId() haulerId!: string;
  @OneOf('Interface that the partner hosts', PARTNER_INTERFACES) interface!: PartnerInterface;
  @BaseUrl() baseUrl!: string;
  @Text('Customer of a vision connection', nullable, example(CUSTOMER)) customerId!: string | null;
  @Integer('Seconds between runs', min(30), example(900)) intervalSeconds!: number;
  @Integer(
    'Seconds that the host of a file has for its answer, and then for the first byte; null: the default',
    min(1),
    nullable,
  )
  firstByteTimeoutSeconds!: number | null;
  @Flag('Whether it runs on schedule') enabled!: boolean;
  @Flag('Whether a next key is stored', example(false)) hasNextApiKey!: boolean;
  @Time('When its next call is due', nullable) nextRunAt!: string | null;
  @Text('Why its last run failed', nullable, example('partner.example.com does not accept our API key.'))
  lastError!: string | null;
  @Nested('How its calls fare, where it is read', ConnectionHealth, optional) health?: ConnectionHealth;
  @Time('When it was created') createdAt!: string;
  @Time('When it last changed') updatedAt!: string;
}

/** What ends with a connection. What came through it stays. */
export class ConnectionRemoval {
  @Integer('Keys that were issued for it, and would be revoked', example(1)) keys!: number;
  @Integer('Synchronisation runs that would be cancelled', example(0)) syncRuns!: number;
  @Integer('Video subscriptions that would no longer be read', example(2)) videoSubscriptions!: number;
  @Integer('Requested clips that would not be asked for any more', example(0)) videoRequests!: number;
  @Integer('Listed recordings that would not be downloaded', example(12)) recordings!: number;
}

const RULE_OUTCOMES = ['passed', 'failed', 'warning', 'not-applicable', 'not-proven', 'kit-error'] as const;

/** The outcome of one rule of the conformance kit. */
export class CheckedRule {
  @Text('Id of the rule', example('SITE-034')) id!: string;
  @Text('Operation of the interface', example('getSites')) operation!: string;
  @OneOf('Its outcome; a warning does not affect `conforms`', RULE_OUTCOMES, example('failed'))
  outcome!: (typeof RULE_OUTCOMES)[number];
  @Text('What was found; empty if it passed', example('data.materials[12].measureUnit must be one of Item, Ton'))
  message!: string;
  @Text('What to change', optional, example('Send materials[].measureUnit as one of Item, Ton.')) remedy?: string;
}

export class CheckConnectionRequest {
  @Text(
    'Truck whose recordings are listed, and one of whose files is fetched; by default that of the newest subscription. Vision only',
    between(1, MAX_PARTNER_ID),
    optional,
    example('TRUCK-7'),
  )
  truckId?: string;
}

/** The result of calls to the partner. */
export class ConnectionCheck {
  @Flag('The partner answered') reachable!: boolean;
  @Flag('It refused none of the calls for their key') authorized!: boolean;
  @Flag(
    'True if everything that the check can prove is proven, false if a rule failed; null if nothing failed and something could not be proven',
    nullable,
  )
  conforms!: boolean | null;
  @Integer('Rules that this check has proven; the others failed, or could not be proven', example(61)) proven!: number;
  @Integer('Rules that such a check can prove', example(64)) of!: number;
  @Integer('All rules for such a partner: the conformance kit proves the others', example(242)) ofKit!: number;
  @TextList('The findings, each a sentence') findings!: string[];
  @NestedList(
    'The rules of the conformance kit, and of Vision `CHECK-LINK` and `CHECK-FILE`: one link and its file. Empty if the partner cannot be reached or refuses the key',
    CheckedRule,
  )
  rules!: CheckedRule[];
}

export const CONNECTION_ROUTES = {
  createConnection: create(FOR_ADMINS, '/connections', CreateConnectionRequest, Connection, {
    summary: 'Create a connection of a hauler to a partner',
    description: 'The service never shows the keys again. An enabled site connection starts its first run at once.',
    examples: NEW_CONNECTIONS,
  }),
  listConnections: list(FOR_VIEWERS, '/connections', Connection, ConnectionQuery, {
    summary: 'List connections',
    description: 'Newest first.',
  }),
  getConnection: one(FOR_VIEWERS, '/connections/{id}', 'connection', Connection, {
    summary: 'Read a connection',
    description: 'By its id, without its keys.',
  }),
  updateConnection: change(FOR_ADMINS, 'PATCH', '/connections/{id}', 'connection', {
    summary: 'Change a connection',
    description:
      'Fields that are absent stay the same. `enabled: false` pauses the connection; the service tries a new address, key or customer at once. A key belongs to the origin that it was saved with: a `baseUrl` of another scheme, host or port needs `apiKey` in the same call.',
    body: UpdateConnectionRequest,
    response: Connection,
    examples: CONNECTION_CHANGES,
  }),
  deleteConnection: removeWithPreview(FOR_ADMINS, '/connections/{id}', 'connection', ConnectionRemoval, {
    summary: 'Delete a connection',
    description:
      'Erases its keys, revokes the keys that were issued for it, and ends all calls to the partner; the data that came through it stays.',
  }),
  checkConnection: change(FOR_OPERATORS, 'POST', '/connections/{id}/check', 'connection', {
    summary: 'Check a connection',
    description:
      'Calls every GET of the interface, and of Vision fetches one listed file, without keeping it. Changes no data, but promotes a next key that works.',
    body: CheckConnectionRequest,
    response: ConnectionCheck,
    isBodyOptional: true,
    isOpenToReadToken: true,
    returns: 'The findings',
  }),
  syncConnection: change(FOR_OPERATORS, 'POST', '/connections/{id}/sync', 'connection', {
    summary: 'Synchronise a site connection now',
    description: 'Also while the connection is paused. While a run is active, the response names that run.',
    response: RequestedSyncRun,
    status: 202,
  }),
} as const satisfies AdminRoutes;
