import { EnumListField } from '../common/fields/nested-fields.js';
import { EnumField, TextField } from '../common/fields/scalar-fields.js';

const SIDES = ['platform', 'partner'] as const;

const SECRET = { min: 1, max: 1_000, optional: true } as const;

/** Exactly one of the two secrets. */
export class SignInRequest {
  @TextField({ ...SECRET, description: 'ADMIN_TOKEN or ADMIN_READ_TOKEN' })
  token?: string;

  @TextField({ ...SECRET, description: 'API key of a partner' })
  apiKey?: string;
}

/** The caller that is signed in to the console. */
export class SessionView {
  @EnumField({ description: 'Rights of the session', values: ['admin', 'reader', 'partner'], example: 'admin' })
  kind!: 'admin' | 'reader' | 'partner';

  @EnumListField({ description: 'Sides that the service has (SIDES)', values: SIDES, max: SIDES.length })
  sides!: (typeof SIDES)[number][];

  @TextField({ description: 'First characters of the key of a partner', max: 11, optional: true })
  keyPrefix?: string;

  @TextField({ description: 'Hauler of the key', max: 36, nullable: true, optional: true })
  haulerId?: string | null;

  @TextField({ description: 'Customer of the key', max: 255, nullable: true, optional: true })
  customerId?: string | null;
}
