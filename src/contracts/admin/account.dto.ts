import { CreateAccountResponse } from '../accounts/account.dto.js';
import { InstantField } from '../common/fields/instant-field.js';
import { NameField, UuidField } from '../common/fields/text-fields.js';
import { PageQuery } from '../common/pagination.dto.js';

const HAULER_ID = '5f0c1f2e-7a3b-4c8d-9e10-112233445566';

export class AccountQuery extends PageQuery {
  @UuidField({ description: 'Accounts of this hauler only', optional: true })
  haulerId?: string;

  @NameField({
    description:
      'Part of the name, of the account number or of the e-mail address, in whatever case and spacing; one or two characters are looked for where a word begins',
    max: 200,
    optional: true,
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
