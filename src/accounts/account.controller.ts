import { HttpCode, Post, Req } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { type ServedCall, callContextOf, ServedApi } from '../auth/served-api.js';
import { ACCOUNT_API, type AccountApi } from '../contracts/account/account.api.js';
import { CreateAccountRequest, CreateAccountResponse } from '../contracts/account/account.dto.js';
import { send } from '../http/answer.js';
import { JsonBody, rawBodyOf } from '../http/json-body.js';
import { exampleOf, FailsWith, type Failure, TakesJson } from '../http/route-documentation.js';
import { IDEMPOTENCY_HEADER, REPLAYED_HEADER, claimOf, keyReused } from '../idempotency/idempotency-key.js';
import { AccountService, nameTaken } from './account.service.js';

const { path } = ACCOUNT_API.routes.createAccount;

const existing = { id: '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d', accountNumber: 'A-100042' };

/** 409 in the OpenAPI document (decisions 16 and 28). */
const CONFLICT: Failure = {
  description:
    '`details.reason` is `NAME_TAKEN` if there is an account of that name, which `details.accountId` and ' +
    '`details.accountNumber` name, and `IDEMPOTENCY_KEY_REUSED` if the key was used with another body',
  headers: REPLAYED_HEADER,
  examples: {
    'a name that is taken': exampleOf(ACCOUNT_API, nameTaken(existing)),
    'a key that was used with another body': exampleOf(ACCOUNT_API, keyReused(ACCOUNT_API, 'conflict')),
  },
};

@ServedApi(ACCOUNT_API)
export class AccountController implements AccountApi<ServedCall, string> {
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
  @FailsWith({ conflict: CONFLICT })
  @ApiOkResponse({ description: 'The account', type: CreateAccountResponse, headers: REPLAYED_HEADER })
  async createAccount(
    @JsonBody({ reportsIgnored: CreateAccountRequest }) body: CreateAccountRequest,
    @Req() call: ServedCall,
  ) {
    const { caller, response } = callContextOf(call);
    const claim = claimOf(call, ACCOUNT_API, path, caller.haulerId);
    const origin = { keyId: caller.keyId, bodyBytes: rawBodyOf(call).length };
    return send(response, await this.accounts.create(body, caller.haulerId, claim, origin));
  }
}
