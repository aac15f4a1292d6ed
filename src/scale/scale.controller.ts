import { Controller, Req } from '@nestjs/common';
import type { Request } from 'express';
import { callContextOf } from '../auth/caller.js';
import { Route } from '../auth/route.js';
import { CreateScaleTicketRequest, SCALE_API } from '../contracts/scale/scale.api.js';
import { send } from '../core/http/answer.js';
import { JsonBody, rawBodyOf } from '../core/http/json-body.js';
import { claimOf } from '../core/idempotency/idempotency-key.js';
import { TicketService } from './ticket.service.js';

@Controller()
export class ScaleController {
  constructor(private readonly tickets: TicketService) {}

  @Route(SCALE_API, 'createTicket')
  async createTicket(@JsonBody() body: CreateScaleTicketRequest, @Req() request: Request) {
    const { caller, response } = callContextOf(request);
    const { haulerId } = caller;
    const { call } = request;
    const origin = { exchangeId: call.exchangeId ?? null, apiKeyId: caller.keyId, requestId: call.requestId };
    const claim = claimOf(request, haulerId);
    return send(response, await this.tickets.create(body, haulerId, rawBodyOf(call), claim, origin));
  }
}
