import { ADMIN_ROLES, type AdminRole } from '../common/roles.values.js';
import { Flag, OneOf, OneOfList, Text, TextList, Time, Uuid } from '../common/fields/decorators.js';
import { between, example, nullable, optional } from '../common/fields/options.js';
import { PARTNER_INTERFACES, type PartnerInterface } from './connections.routes.js';
import { NETWORK_CAUSE_CODES } from '../common/network-causes.values.js';
import { ListQuery } from './list.dto.js';
import { type AdminRoutes, FOR_ADMINS_OF_ALL, list, remove } from './route-helpers.js';

const SIDES = ['platform', 'partner'] as const;

/** Exactly one of the two secrets. */
export class SignInRequest {
  @Text('ADMIN_TOKEN, ADMIN_READ_TOKEN or one of ADMIN_TOKENS', between(1, 1_000), optional) token?: string;
  @Text('API key of a partner', between(1, 1_000), optional) apiKey?: string;
}

/** The caller that is signed in to the console. */
export class SessionView {
  @OneOf('Rights of the session', ['admin', 'reader', 'partner']) kind!: 'admin' | 'reader' | 'partner';
  @OneOf('Role of a token or person', ADMIN_ROLES, optional, example('admin')) role?: AdminRole;
  @Text('Name of the token or person', optional, example('admin token')) name?: string;
  @Flag('Whether a person has signed in at the identity provider', optional) isPerson?: boolean;
  @TextList('Haulers that the token or person is limited to', optional) haulers?: string[];
  @OneOfList('Sides that the service has (SIDES)', SIDES) sides!: (typeof SIDES)[number][];
  @Flag('Whether the sandbox is on (SANDBOX)', example(false)) sandbox!: boolean;
  @Uuid('The hauler of the demo: its calls are an exercise') demoHaulerId!: string;
  @Text('First characters of the key of a partner', optional) keyPrefix?: string;
  @Text('Hauler of the key', optional, nullable) haulerId?: string | null;
  @Text('Connection of the key', optional, nullable) connectionId?: string | null;
  @OneOf('Interface of that connection', PARTNER_INTERFACES, optional) connectionInterface?: PartnerInterface;
  @Text('Customer of the key', optional, nullable) customerId?: string | null;
}

/** Why a person is not signed in, as the sign-in page shows it. */
const SIGN_IN_FAULTS = [
  'provider-away',
  'refused',
  'stale',
  'invalid',
  'algorithm',
  'no-role',
  'silent',
  ...NETWORK_CAUSE_CODES,
] as const;
export type SignInFault = (typeof SIGN_IN_FAULTS)[number];

/** The ways to sign in to the console. */
export class SignInOptions {
  @Flag('Whether people sign in at an identity provider (OIDC_ISSUER)') people!: boolean;
}

/** A session of the console that has not ended. */
export class AdminSession {
  @Uuid('Id of the session') id!: string;
  @OneOf('Who signed in: a person at the identity provider, a token of the admin API, or the key of a partner', [
    'person',
    'token',
    'partner',
  ])
  kind!: 'person' | 'token' | 'partner';
  @Text('Name of the person or token, or the prefix of the key', example('Dana Dispatcher')) name!: string;
  @Text('E-mail address of the person', optional, example('dana@hauling.example')) email?: string;
  @OneOf('Role; absent for a partner', ADMIN_ROLES, optional, example('operator')) role?: AdminRole;
  @TextList('Ids of the haulers that the session is limited to; absent for all', optional) haulers?: string[];
  @Time('When it began') createdAt!: string;
  @Time('When it ends at the latest') expiresAt!: string;
  @Flag('Whether the call was made with this session', example(false)) isCurrent!: boolean;
}

/** The sessions of people, tokens and partners in the console. */
export const SESSION_ROUTES = {
  listSessions: list(FOR_ADMINS_OF_ALL, '/sessions', AdminSession, ListQuery, {
    summary: 'List the sessions of the console',
    description: 'Those that have not ended, newest first.',
  }),
  endSession: remove(FOR_ADMINS_OF_ALL, '/sessions/{id}', 'session', {
    summary: 'End a session of the console',
    description:
      'On every instance with the next request. A person can sign in again as long as a group of the identity provider allows it.',
    returns: 'The session has ended',
  }),
} as const satisfies AdminRoutes;
