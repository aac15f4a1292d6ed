import type { CreateScaleTicketResponse } from '../contracts/scale/scale.dto.js';
import type { AppError } from '../errors/app-error.js';
import type { Answer } from '../http/answer.js';
import type { Claim } from '../idempotency/claims.js';
import type { Push } from './ticket.js';

/** One push on its way into the database. */
export interface Submission {
  readonly push: Push;
  readonly materialIds: readonly string[];
  /** Where the caller sent an `Idempotency-Key` (decision 16). */
  readonly claim: Claim | undefined;
}

/** The answer of section 2.3, or an earlier one as the text that went out. */
export type TicketAnswer = Answer<CreateScaleTicketResponse | string>;

/** What a submission came to: an answer, or a 422, which is an answer too, with nothing written. */
export type Outcome = TicketAnswer | AppError;
