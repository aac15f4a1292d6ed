import { CreateAccountResponse } from '../account/account.dto.js';
import { InstantField, NameField, UuidField } from '../common/fields/scalar-fields.js';
import { ListQuery } from './list.dto.js';

const HAULER_ID = '5f0c1f2e-7a3b-4c8d-9e10-112233445566';

/** The filters that a partner has too. */
export class AccountFilters extends ListQuery {
  @NameField({
    description:
      'Part of the name, the account number or the e-mail address, without regard to case and spacing; one or two characters match the start of a word',
    max: 200,
    optional: true,
  })
  search?: string;
}

export class AccountQuery extends AccountFilters {
  @UuidField({ description: 'Accounts of this hauler only', optional: true })
  haulerId?: string;
}

/** The response to the partner (section 2.5) with the hauler. */
export class Account extends CreateAccountResponse {
  @UuidField({ description: 'Hauler whose customer it is', example: HAULER_ID })
  haulerId!: string;

  @InstantField({ description: 'When it was created', example: '2026-11-20T14:03:27.512Z' })
  createdAt!: string;

  @InstantField({ description: 'When it was last changed', example: '2026-11-20T14:03:27.512Z' })
  updatedAt!: string;
}
