import { type CanActivate, Controller, type ExecutionContext, Injectable, Req, UseGuards } from '@nestjs/common';
import { type ServedCall, callContextOf } from '../auth/caller.js';
import { Route } from '../auth/route.js';
import { KEY_HEADER } from '../contracts/common/idempotency.js';
import { Outbox } from '../events/outbox.js';
import { SCALE_API } from '../contracts/scale/scale.api.js';
import { CreateScaleTicketRequest } from '../contracts/scale/scale.dto.js';
import { send } from '../http/answer.js';
import { JsonBody, rawBodyOf } from '../http/json-body.js';
import { claimOf } from '../idempotency/idempotency-key.js';
import { TicketService } from './ticket.service.js';

/** A smaller body is read in any case: the exchange log then has all of it. */
const MAX_SMALL_BYTES = 16 * 1024;

const REFUSED_TOPIC = ['ticket.refused'] as const;

/** Statuses of a push that stored nothing and that is refused again if it is sent again. */
const REFUSED: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/**
 * Refuses a large push before its body is read if no more pushes may wait: the body would use memory for nothing. Announces a
 * push that is refused, at whatever step, if a webhook endpoint asks for it.
 */
@Injectable()
export class TicketRoomGuard implements CanActivate {
  constructor(
    private readonly tickets: TicketService,
    private readonly outbox: Outbox,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const call = context.switchToHttp().getRequest<ServedCall>();
    this.expectRoom(call);
    const haulerId = call.principal?.haulerId ?? '';
    const wanted = this.outbox.wants(REFUSED_TOPIC, [haulerId]);
    if (wanted instanceof Promise) return wanted.then((isWanted) => this.watch(call, haulerId, isWanted));
    return this.watch(call, haulerId, wanted);
  }

  private watch(call: ServedCall, haulerId: string, isWanted: boolean): true {
    const response = call.res;
    if (isWanted) {
      response?.once('finish', () => {
        const { statusCode: status } = response;
        if (!REFUSED.has(status)) return;
        const requestId = String(response.getHeader('X-Request-Id'));
        const data = { requestId, exchangeId: call.exchangeId ?? null, status };
        this.outbox.writeSoon({ topic: 'ticket.refused', haulerId, data });
      });
    }
    return true;
  }

  private expectRoom({ complete, headers, principal }: ServedCall): void {
    const bytes = Number(headers['content-length'] ?? 0);
    if (!complete && bytes > MAX_SMALL_BYTES) {
      const lane = [principal?.haulerId ?? '', principal?.keyId ?? ''] as const;
      this.tickets.expectRoom(bytes, lane, headers[KEY_HEADER.toLowerCase()] !== undefined);
    }
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
    const requestId = String(response.getHeader('X-Request-Id'));
    const origin = { exchangeId: call.exchangeId ?? null, apiKeyId: caller.keyId, requestId };
    return send(response, await this.tickets.create(body, haulerId, rawBodyOf(call), claimOf(call, haulerId), origin));
  }
}
