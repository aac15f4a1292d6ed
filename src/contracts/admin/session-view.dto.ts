import { ADMIN_ROLES, type AdminRole } from '../common/roles.js';
import { EnumListField, TextListField } from '../common/fields/nested-fields.js';
import { BooleanField, EnumField, TextField, UuidField } from '../common/fields/scalar-fields.js';
import { CellsView } from './cells-view.dto.js';
import { PARTNER_INTERFACES, type PartnerInterface } from './connection.dto.js';

const HAULER_ID = '5f0c1f2e-7a3b-4c8d-9e10-112233445566';

const SIDES = ['platform', 'partner'] as const;

const SECRET = { min: 1, max: 1_000, optional: true } as const;

/** Exactly one of the two secrets. */
export class SignInRequest {
  @TextField({ ...SECRET, description: 'ADMIN_TOKEN, ADMIN_READ_TOKEN or one of ADMIN_TOKENS' })
  token?: string;

  @TextField({ ...SECRET, description: 'API key of a partner' })
  apiKey?: string;
}

/** The caller that is signed in to the console. */
export class SessionView extends CellsView {
  @EnumField({ description: 'Rights of the session', values: ['admin', 'reader', 'partner'], example: 'admin' })
  kind!: 'admin' | 'reader' | 'partner';

  @EnumField({ description: 'Role of a token or person', values: ADMIN_ROLES, optional: true, example: 'admin' })
  role?: AdminRole;

  @TextField({ description: 'Name of the token or person', max: 255, optional: true, example: 'admin token' })
  name?: string;

  @BooleanField({
    description: 'Whether a person has signed in at the identity provider',
    optional: true,
    example: true,
  })
  isPerson?: boolean;

  @TextListField({
    description: 'Haulers that the token or person is limited to',
    max: 1_000,
    maxLength: 36,
    optional: true,
  })
  haulers?: string[];

  @EnumListField({ description: 'Sides that the service has (SIDES)', values: SIDES, max: SIDES.length })
  sides!: (typeof SIDES)[number][];

  @BooleanField({ description: 'Whether the sandbox is on (SANDBOX)', example: false })
  sandbox!: boolean;

  @UuidField({ description: 'The hauler of the demo: its calls are an exercise', example: HAULER_ID })
  demoHaulerId!: string;

  @TextField({ description: 'First characters of the key of a partner', max: 24, optional: true })
  keyPrefix?: string;

  @TextField({ description: 'Hauler of the key', max: 36, nullable: true, optional: true })
  haulerId?: string | null;

  @TextField({ description: 'Connection of the key', max: 36, nullable: true, optional: true })
  connectionId?: string | null;

  @EnumField({ description: 'Interface of that connection', values: PARTNER_INTERFACES, optional: true })
  connectionInterface?: PartnerInterface;

  @TextField({ description: 'Customer of the key', max: 255, nullable: true, optional: true })
  customerId?: string | null;
}
