import { EnumField, TextField } from '../common/fields/scalar-fields.js';

const SECRET = { min: 1, max: 1_000, optional: true } as const;

/** One of the two. */
export class SignInRequest {
  @TextField({ ...SECRET, description: 'ADMIN_TOKEN or ADMIN_READ_TOKEN' })
  token?: string;

  @TextField({ ...SECRET, description: 'API key of a partner' })
  apiKey?: string;
}

/** The caller that is signed in to the console. */
export class SessionView {
  @EnumField({ description: 'What the session opens', values: ['admin', 'reader', 'partner'], example: 'admin' })
  kind!: 'admin' | 'reader' | 'partner';

  @TextField({ description: 'First characters of the key of a partner', max: 11, optional: true })
  keyPrefix?: string;

  @TextField({ description: 'Hauler of the key', max: 36, nullable: true, optional: true })
  haulerId?: string | null;

  @TextField({ description: 'Customer of the key', max: 255, nullable: true, optional: true })
  customerId?: string | null;
}
