import { NETWORK_CAUSE_CODES } from '../common/network-causes.js';
import { TextListField } from '../common/fields/nested-fields.js';
import { BooleanField, EnumField, InstantField, TextField, UuidField } from '../common/fields/scalar-fields.js';
import { ADMIN_ROLES, type AdminRole } from '../common/roles.js';
import { CellsView } from './cells-view.dto.js';

/** Why a person is not signed in, as the sign-in page shows it. */
export const SIGN_IN_FAULTS = [
  ...['provider-away', 'refused', 'stale', 'invalid', 'algorithm', 'no-role', 'silent'],
  ...NETWORK_CAUSE_CODES,
] as const;
export type SignInFault = (typeof SIGN_IN_FAULTS)[number];

/** The ways to sign in to the console. */
export class SignInOptions extends CellsView {
  @BooleanField({ description: 'Whether people sign in at an identity provider (OIDC_ISSUER)', example: true })
  people!: boolean;
}

/** A session of the console that has not ended. */
export class AdminSession {
  @UuidField({ description: 'Id of the session', example: '0197a1d0-71aa-7e20-b1c4-3a5c7e9f1b24' })
  id!: string;

  @EnumField({
    description: 'Who signed in: a person at the identity provider, a token of the admin API, or the key of a partner',
    values: ['person', 'token', 'partner'],
    example: 'person',
  })
  kind!: 'person' | 'token' | 'partner';

  @TextField({
    description: 'Name of the person or token, or the prefix of the key',
    max: 255,
    example: 'Dana Dispatcher',
  })
  name!: string;

  @TextField({ description: 'E-mail address of the person', max: 255, optional: true, example: 'dana@hauling.example' })
  email?: string;

  @EnumField({ description: 'Role; absent for a partner', values: ADMIN_ROLES, optional: true, example: 'operator' })
  role?: AdminRole;

  @TextListField({
    description: 'Ids of the haulers that the session is limited to; absent for all',
    max: 1_000,
    maxLength: 36,
    optional: true,
  })
  haulers?: string[];

  @InstantField({ description: 'When it began', example: '2026-11-20T14:03:27.512Z' })
  createdAt!: string;

  @InstantField({ description: 'When it ends at the latest', example: '2026-11-20T15:03:27.512Z' })
  expiresAt!: string;

  @BooleanField({ description: 'Whether the call was made with this session', example: false })
  isCurrent!: boolean;
}
