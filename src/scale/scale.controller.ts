import { HttpCode, Post, Req } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { HostedApi } from '../auth/hosted-api.js';
import { type HostedCall, partiesOf } from '../auth/hosted-call.js';
import { SCALE_API, type ScaleApi } from '../contracts/scale/scale.api.js';
import { CreateScaleTicketRequest, CreateScaleTicketResponse } from '../contracts/scale/scale.dto.js';
import { RESULT_HEADER, TICKET_RESULTS } from '../contracts/scale/ticket-result.js';
import { send } from '../http/answer.js';
import { JsonBody, rawBodyOf } from '../http/json-body.js';
import { FailsWith, TakesJson } from '../http/route-documentation.js';
import { IDEMPOTENCY_HEADER, REPLAYED_HEADER } from '../idempotency/documentation.js';
import { claimOf } from '../idempotency/idempotency-key.js';
import { REFUSED } from './refusals.js';
import { ScaleService } from './scale.service.js';

const { path } = SCALE_API.routes.createTicket;

const RESULT = {
  [RESULT_HEADER]: {
    description: 'What became of the push; `stale`: newer contents are stored, this push is in the history only',
    schema: { type: 'string' as const, enum: [...TICKET_RESULTS] },
  },
};

@HostedApi(SCALE_API)
export class ScaleController implements ScaleApi<HostedCall, string> {
  constructor(private readonly scale: ScaleService) {}

  @Post(path)
  @HttpCode(200)
  @ApiOperation({
    summary: 'Push a scale ticket',
    description:
      'Send it whenever a ticket is created or updated. A push whose flow is known updates that ticket; the newest wins, in whatever order pushes arrive.',
  })
  @ApiHeader(IDEMPOTENCY_HEADER)
  @TakesJson(CreateScaleTicketRequest)
  @FailsWith({ ruleViolated: REFUSED })
  @ApiOkResponse({
    description: 'The push is stored',
    type: CreateScaleTicketResponse,
    headers: { ...RESULT, ...REPLAYED_HEADER },
  })
  async createTicket(@JsonBody() body: CreateScaleTicketRequest, @Req() call: HostedCall) {
    const { caller, response } = partiesOf(call);
    const claim = claimOf(call, SCALE_API, path, caller.haulerId);
    return send(response, await this.scale.create(body, caller.haulerId, rawBodyOf(call), claim));
  }
}
