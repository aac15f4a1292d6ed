import { Injectable } from '@nestjs/common';
import type { CreateScaleTicketRequest } from '../contracts/scale/scale.dto.js';
import type { Claim } from '../idempotency/claims.js';
import type { TicketAnswer } from './submission.js';
import { TicketIngestion } from './ticket-ingestion.js';
import { pushOf } from './ticket-push.js';

/** Takes scale tickets in (sections 2.2, 2.3, 4.1). */
@Injectable()
export class ScaleService {
  constructor(private readonly ingestion: TicketIngestion) {}

  /** `ruleViolated` where a business rule is broken or the flows belong to two tickets (decisions 20, 24). */
  create(
    request: CreateScaleTicketRequest,
    haulerId: string,
    body: string,
    claim: Claim | undefined,
  ): Promise<TicketAnswer> {
    const push = pushOf(request, haulerId, body);
    return this.ingestion.submit({ push, materialIds: request.materials.map(({ id }) => id), claim });
  }
}
