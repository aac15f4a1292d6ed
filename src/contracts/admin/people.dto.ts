import { NETWORK_CAUSE_CODES } from '../common/network-causes.values.js';
import { Flag, OneOf, Text, TextList, Time, Uuid } from '../common/fields/decorators.js';
import { example, optional } from '../common/fields/options.js';
import { ADMIN_ROLES, type AdminRole } from '../common/roles.values.js';

/** Why a person is not signed in, as the sign-in page shows it. */
export const SIGN_IN_FAULTS = [
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
