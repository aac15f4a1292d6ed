import { CreateAccountResponse } from '../account/account.dto.js';
import { Name, Time, Uuid } from '../common/fields/decorators.js';
import { inQuery, max, optional } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';
import { ListQuery } from './list.dto.js';
import { HaulerId } from './fields.js';

/** The filters that a partner has too. */
export class AccountFilters extends ListQuery {
  @Name(
    'Part of the name, the account number or the e-mail address, without regard to case and spacing; one or two characters match the start of a word',
    max(200),
    optional,
  )
  search?: string;
}

export class AccountQuery extends AccountFilters {
  @Uuid('Accounts of this hauler only', optional) haulerId?: string;
  @Time('Accounts created at this time or later', inQuery, optional) from?: Instant;
  @Time('Accounts created before this time', inQuery, optional) to?: Instant;
}

/** The response to the partner (section 2.5) with the hauler. */
export class Account extends CreateAccountResponse {
  @HaulerId() haulerId!: string;
  @Time('When it was created') createdAt!: string;
  @Time('When it was last changed') updatedAt!: string;
}
