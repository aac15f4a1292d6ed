import { HttpCode, Post, Req } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { type HostedCall, partiesOf } from '../auth/hosted-call.js';
import { HostedApi } from '../auth/hosted-api.js';
import { ACCOUNT_API, type AccountApi } from '../contracts/accounts/account.api.js';
import { CreateAccountRequest, CreateAccountResponse } from '../contracts/accounts/account.dto.js';
import { send } from '../http/answer.js';
import { JsonBody } from '../http/json-body.js';
import { FailsWith, TakesJson } from '../http/route-documentation.js';
import { IDEMPOTENCY_HEADER, REPLAYED_HEADER } from '../idempotency/documentation.js';
import { claimOf } from '../idempotency/idempotency-key.js';
import { AccountService } from './account.service.js';
import { REFUSED } from './refusals.js';

const { path } = ACCOUNT_API.routes.createAccount;

@HostedApi(ACCOUNT_API)
export class AccountController implements AccountApi<HostedCall, string> {
  constructor(private readonly accounts: AccountService) {}

  @Post(path)
  @HttpCode(200)
  @ApiOperation({
    summary: 'Create a customer account',
    description:
      'Only the name is required. Keep `accountId` and `accountNumber`: they are needed to refer to it later.',
  })
  @ApiHeader(IDEMPOTENCY_HEADER)
  @TakesJson(CreateAccountRequest)
  @FailsWith({ conflict: REFUSED })
  @ApiOkResponse({ description: 'The account', type: CreateAccountResponse, headers: REPLAYED_HEADER })
  async createAccount(@JsonBody() body: CreateAccountRequest, @Req() call: HostedCall) {
    const { caller, response } = partiesOf(call);
    const claim = claimOf(call, ACCOUNT_API, path, caller.haulerId);
    return send(response, await this.accounts.create(body, caller.haulerId, claim));
  }
}
