import { ADMIN_ROLES, type AdminRole } from '../common/roles.values.js';
import { Flag, OneOf, OneOfList, Text, TextList, Uuid } from '../common/fields/decorators.js';
import { example, nullable, optional, between } from '../common/fields/options.js';
import { PARTNER_INTERFACES, type PartnerInterface } from './connection.dto.js';

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
