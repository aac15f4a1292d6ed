import { Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { AccountQueries } from '../accounts/account-queries.js';
import { AdminApi } from '../auth/admin-api.js';
import { Account, AccountQuery } from '../contracts/admin/account.dto.js';
import { IdParam, List, listOf } from '../contracts/admin/list.dto.js';
import { FailsWith } from '../http/route-documentation.js';

@AdminApi('accounts')
export class AccountsController {
  constructor(private readonly accounts: AccountQueries) {}

  @Get()
  @ApiOperation({ summary: 'List accounts', description: 'Newest first.' })
  @ApiOkResponse({ description: 'A page of accounts', type: listOf(Account) })
  list(@Query() query: AccountQuery): Promise<List<Account>> {
    return this.accounts.list(query);
  }

  @Get(':id')
  @ApiOperation({ summary: 'Read an account', description: 'By its id, the `accountId` of the answer to the partner.' })
  @ApiOkResponse({ description: 'The account', type: Account })
  @FailsWith({ notFound: 'There is no such account' })
  get(@Param() { id }: IdParam): Promise<Account> {
    return this.accounts.get(id);
  }
}
