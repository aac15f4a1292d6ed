import { Controller, Req } from '@nestjs/common';
import type { Request } from 'express';
import { callContextOf } from '../auth/caller.js';
import { Route } from '../auth/route.js';
import { ACCOUNT_API, CreateAccountRequest } from '../contracts/account/account.api.js';
import { send } from '../core/http/answer.js';
import { JsonBody, rawBodyOf } from '../core/http/json-body.js';
import { claimOf } from '../core/idempotency/idempotency-key.js';
import { AccountService } from './account.service.js';

@Controller()
export class AccountController {
  constructor(private readonly accounts: AccountService) {}

  @Route(ACCOUNT_API, 'createAccount')
  async createAccount(@JsonBody() body: CreateAccountRequest, @Req() request: Request) {
    const { caller, response } = callContextOf(request);
    const { haulerId } = caller;
    const origin = { keyId: caller.keyId, bodyBytes: rawBodyOf(request.call).length };
    return send(response, await this.accounts.create(body, haulerId, claimOf(request, haulerId), origin));
  }
}
