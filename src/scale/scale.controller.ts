import { type CanActivate, Controller, type ExecutionContext, Injectable, Req, UseGuards } from '@nestjs/common';
import { type ServedCall, callContextOf } from '../auth/caller.js';
import type { AuthenticatedRequest } from '../auth/principal.js';
import { Route } from '../auth/route.js';
import { KEY_HEADER } from '../contracts/common/idempotency.js';
import { SCALE_API } from '../contracts/scale/scale.api.js';
import { CreateScaleTicketRequest } from '../contracts/scale/scale.dto.js';
import { send } from '../http/answer.js';
import { JsonBody, rawBodyOf } from '../http/json-body.js';
import { claimOf } from '../idempotency/idempotency-key.js';
import { maskSecrets } from '../observability/known-secrets.js';
import { TicketService } from './ticket.service.js';

/** A smaller body is read in any case: the exchange log then has all of it. */
const MAX_SMALL_BYTES = 16 * 1024;

/** Refuses a large push before its body is read if no more pushes may wait: the body would use memory for nothing. */
@Injectable()
export class TicketRoomGuard implements CanActivate {
  constructor(private readonly tickets: TicketService) {}

  canActivate(context: ExecutionContext): boolean {
    const { complete, headers, principal } = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const bytes = Number(headers['content-length'] ?? 0);
    if (!complete && bytes > MAX_SMALL_BYTES) {
      const lane = [principal?.haulerId ?? '', principal?.keyId ?? ''] as const;
      this.tickets.expectRoom(bytes, lane, headers[KEY_HEADER.toLowerCase()] !== undefined);
    }
    return true;
  }
}

@Controller()
export class ScaleController {
  constructor(private readonly tickets: TicketService) {}

  @Route(SCALE_API, 'createTicket')
  @UseGuards(TicketRoomGuard)
  async createTicket(@JsonBody() body: CreateScaleTicketRequest, @Req() call: ServedCall) {
    const { caller, response } = callContextOf(call);
    const { haulerId } = caller;
    const requestId = maskSecrets(String(response.getHeader('X-Request-Id')));
    const origin = { exchangeId: call.exchangeId ?? null, apiKeyId: caller.keyId, requestId };
    return send(response, await this.tickets.create(body, haulerId, rawBodyOf(call), claimOf(call, haulerId), origin));
  }
}
