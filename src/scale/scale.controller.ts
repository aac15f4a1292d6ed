import { type CanActivate, type ExecutionContext, HttpCode, Injectable, Post, Req, UseGuards } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { AuthenticatedRequest } from '../auth/principal.js';
import { ServedApi, type ServedCall, callContextOf } from '../auth/served-api.js';
import { SCALE_API, type ScaleApi } from '../contracts/scale/scale.api.js';
import {
  CreateScaleTicketRequest,
  CreateScaleTicketResponse,
  RESULT_HEADER,
  TICKET_RESULTS,
} from '../contracts/scale/scale.dto.js';
import { violated } from '../errors/app-error.js';
import { send } from '../http/answer.js';
import { JsonBody, rawBodyOf } from '../http/json-body.js';
import { exampleOf, FailsWith, type Failure, TakesJson } from '../http/route-documentation.js';
import { IDEMPOTENCY_HEADER, KEY_HEADER, REPLAYED_HEADER, claimOf, keyReused } from '../idempotency/idempotency-key.js';
import { maskSecrets } from '../observability/known-secrets.js';
import { TicketService } from './ticket.service.js';
import { catalogViolations, flowConflict } from './ticket.rules.js';

const { path } = SCALE_API.routes.createTicket;

const RESULT = {
  [RESULT_HEADER]: {
    description: 'What the push did; `stale`: newer contents are stored, this push is in the history only',
    schema: { type: 'string' as const, enum: [...TICKET_RESULTS] },
  },
};

const unknownMaterial = () =>
  violated(
    SCALE_API,
    'ruleViolated',
    catalogViolations(
      { haulerId: '', siteId: '', materialIds: [''] },
      { hasSite: () => true, sitesOf: () => undefined },
    ),
  );

/** 422 in the OpenAPI document (decisions 16, 20 and 24). */
const RULE_VIOLATED: Failure = {
  description:
    'A business rule is violated: `details.violations` names every offending element. `details.reason` is `FLOW_CONFLICT` ' +
    'if the two flows belong to different tickets, and `IDEMPOTENCY_KEY_REUSED` if the key was used with another body',
  headers: REPLAYED_HEADER,
  examples: {
    'an unknown material': exampleOf(SCALE_API, unknownMaterial()),
    'flows of two tickets': exampleOf(SCALE_API, flowConflict()),
    'a key that was used with another body': exampleOf(SCALE_API, keyReused(SCALE_API, 'ruleViolated')),
  },
};

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

@ServedApi(SCALE_API)
export class ScaleController implements ScaleApi<ServedCall, string> {
  constructor(private readonly tickets: TicketService) {}

  @Post(path)
  @UseGuards(TicketRoomGuard)
  @HttpCode(200)
  @ApiOperation({
    summary: 'Push a scale ticket',
    description:
      'Send it whenever a ticket is created or updated. A push whose flow is known updates that ticket; the newest wins, in whatever order pushes arrive.',
  })
  @ApiHeader(IDEMPOTENCY_HEADER)
  @TakesJson(CreateScaleTicketRequest)
  @FailsWith({ ruleViolated: RULE_VIOLATED })
  @ApiOkResponse({
    description: 'The push is stored',
    type: CreateScaleTicketResponse,
    headers: { ...RESULT, ...REPLAYED_HEADER },
  })
  async createTicket(
    @JsonBody({ reportsIgnored: CreateScaleTicketRequest }) body: CreateScaleTicketRequest,
    @Req() call: ServedCall,
  ) {
    const { caller, response } = callContextOf(call);
    const claim = claimOf(call, SCALE_API, path, caller.haulerId);
    const requestId = maskSecrets(String(response.getHeader('X-Request-Id')));
    const origin = { exchangeId: call.exchangeId ?? null, apiKeyId: caller.keyId, requestId };
    return send(response, await this.tickets.create(body, caller.haulerId, rawBodyOf(call), claim, origin));
  }
}
