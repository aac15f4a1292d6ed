import { type CanActivate, Controller, type ExecutionContext, Injectable, Req, UseGuards } from '@nestjs/common';
import { type ServedCall, callContextOf } from '../auth/caller.js';
import { Route } from '../auth/route.js';
import { Outbox } from '../events/outbox.js';
import { SCALE_API } from '../contracts/scale/scale.api.js';
import { CreateScaleTicketRequest } from '../contracts/scale/scale.dto.js';
import { send } from '../http/answer.js';
import { JsonBody, rawBodyOf } from '../http/json-body.js';
import { claimOf } from '../idempotency/idempotency-key.js';
import { maskSecretsInData } from '../observability/known-secrets.js';
import { TicketService } from './ticket.service.js';

/** Statuses of a push that stored nothing and that is refused again if it is sent again. */
const REFUSED: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/** Announces a push that is refused, at whatever step. */
@Injectable()
export class RefusedTickets implements CanActivate {
  constructor(private readonly outbox: Outbox) {}

  canActivate(context: ExecutionContext): true {
    const call = context.switchToHttp().getRequest<ServedCall>();
    const response = call.res;
    response?.once('finish', () => {
      const { statusCode: status } = response;
      if (!REFUSED.has(status)) return;
      const requestId = maskSecretsInData(String(response.getHeader('X-Request-Id')));
      const data = { requestId, exchangeId: call.exchangeId ?? null, status };
      this.outbox.writeSoon({ topic: 'ticket.refused', haulerId: call.principal?.haulerId ?? '', data });
    });
    return true;
  }
}

@Controller()
export class ScaleController {
  constructor(private readonly tickets: TicketService) {}

  @Route(SCALE_API, 'createTicket')
  @UseGuards(RefusedTickets)
  async createTicket(@JsonBody() body: CreateScaleTicketRequest, @Req() call: ServedCall) {
    const { caller, response } = callContextOf(call);
    const { haulerId } = caller;
    const requestId = maskSecretsInData(String(response.getHeader('X-Request-Id')));
    const origin = { exchangeId: call.exchangeId ?? null, apiKeyId: caller.keyId, requestId };
    return send(response, await this.tickets.create(body, haulerId, rawBodyOf(call), claimOf(call, haulerId), origin));
  }
}
