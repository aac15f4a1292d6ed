import { CreateAccountResponse } from '../accounts/account.dto.js';
import { InstantField } from '../common/fields/instant-field.js';
import { TextField, UuidField } from '../common/fields/text-fields.js';
import { PageQuery } from '../common/pagination.dto.js';
import { isBlank } from '../common/text.js';

const HAULER_ID = '0197a1c4-7c1e-7b3a-9f7e-2c5d8e4f6a10';

export class AccountQuery extends PageQuery {
  @UuidField({ description: 'Accounts of this hauler only', optional: true, example: HAULER_ID })
  haulerId?: string;

  @TextField({
    description:
      'Part of the name, of the account number or of the e-mail address, in whatever case and spacing; one or two characters are looked for where a word begins',
    min: 1,
    max: 200,
    check: (value) => !isBlank(value),
    form: 'text that is not blank,',
    optional: true,
    example: 'lone star',
  })
  search?: string;
}

/** An account as its partner was answered (section 2.5), and whose it is. */
export class Account extends CreateAccountResponse {
  @UuidField({ description: 'Hauler whose customer it is', example: HAULER_ID })
  haulerId!: string;

  @InstantField({ description: 'When it was created', example: '2026-11-20T14:03:27.512Z' })
  createdAt!: string;

  @InstantField({ description: 'When it was last changed', example: '2026-11-20T14:03:27.512Z' })
  updatedAt!: string;
}
