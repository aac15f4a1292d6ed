import { Injectable } from '@nestjs/common';
import { SCALE_API } from '../contracts/scale/scale.api.js';
import { type CreateScaleTicketResponse, RESULT_HEADER, type TicketResult } from '../contracts/scale/scale.dto.js';
import { Database } from '../database/database.js';
import type { Session } from '../database/session.js';
import { AppError, violated } from '../errors/app-error.js';
import { errorReply } from '../errors/error-body.js';
import type { Answer } from '../http/answer.js';
import { type Claim, claim, type ClaimOutcome, keep, type KeptAnswer } from '../idempotency/idempotency.repository.js';
import { keyReused } from '../idempotency/idempotency-key.js';
import { findReferences } from '../site-sync/catalog/catalog.repository.js';
import { BatchState, catalogViolations, flowConflict, haveCommonFlow } from './ticket.rules.js';
import { findTickets, insertNewTickets, writeChanges } from './ticket.repository.js';
import type { Push } from './ticket.js';

/** A push, with its claim if the caller sent an `Idempotency-Key` (decision 16). */
export interface Submission {
  readonly push: Push;
  readonly claim: Claim | undefined;
}

/** The response of section 2.3, or the text of an earlier response. */
export type TicketAnswer = Answer<CreateScaleTicketResponse | string>;

/** A response, or a 422 with nothing written. */
export type Outcome = TicketAnswer | AppError;

/** Outcomes in the order of the submissions; `undefined` if the submission must be written again, see each method. */
export type Outcomes = (Outcome | undefined)[];

/** Decides on a batch of submissions and writes its changes, all or none. */
@Injectable()
export class TicketWriter {
  constructor(private readonly database: Database) {}

  /**
   * Most pushes create a ticket and violate no rule. Inserts them in one statement. The others have no outcome: they need
   * `write`.
   */
  async insertNew(submissions: readonly Submission[]): Promise<Outcomes> {
    const pushes = submissions.map(({ push }) => push);
    // Pushes of one flow must be applied one after the other.
    if (haveCommonFlow(pushes)) return pushes.map(() => undefined);
    const inserted = await this.database.hot.use((session) => insertNewTickets(session, pushes));
    return pushes.map(({ id }) => (inserted.has(id) ? stored(id, 'created') : undefined));
  }

  /** Every submission gets an outcome. */
  write(submissions: readonly Submission[]): Promise<Outcome[]> {
    return this.database.hot.use((session) => writeOn(session, submissions));
  }

  /**
   * Submissions with an `Idempotency-Key`: an earlier answer is returned again, other answers are kept (decision 16). A key
   * that is a duplicate in the batch has no outcome: it needs another call after this one, to find the answer of the first.
   */
  writeOncePerKey(submissions: readonly Submission[]): Promise<Outcomes> {
    return this.database.hot.use((session) =>
      session.transaction(async () => {
        const states = await claim(
          session,
          submissions.flatMap((submission) => submission.claim ?? []),
        );
        const claimed = submissions.filter((_, i) => states[i]?.state === 'claimed');
        const outcomes = await writeOn(session, claimed);
        await keep(
          session,
          claimed.flatMap((submission, i) => toKeptAnswer(submission, outcomes[i])),
        );
        const written = new Map(claimed.map((submission, i) => [submission, outcomes[i]]));
        return submissions.map((submission, i) => written.get(submission) ?? earlierOutcome(states[i]));
      }),
    );
  }
}

async function writeOn(session: Session, submissions: readonly Submission[]): Promise<Outcome[]> {
  if (submissions.length === 0) return [];
  const pushes = submissions.map(({ push }) => push);
  const [catalog, tickets] = await Promise.all([findReferences(session, pushes), findTickets(session, pushes)]);
  const state = new BatchState(tickets);
  const outcomes = pushes.map((push) => {
    const violations = catalogViolations(push, catalog);
    return violations.length > 0 ? violated(SCALE_API, 'ruleViolated', violations) : toOutcome(state.apply(push));
  });
  await writeChanges(session, state.changes());
  return outcomes;
}

function toOutcome(applied: ReturnType<BatchState['apply']>): Outcome {
  if (applied === 'conflict') return flowConflict();
  return stored(applied.ticket.id, applied.result);
}

function stored(disposalTicketId: string, result: TicketResult): TicketAnswer {
  return { status: 200, headers: { [RESULT_HEADER]: result }, body: { success: true, disposalTicketId } };
}

function earlierOutcome(state: ClaimOutcome | undefined): Outcome | undefined {
  if (state?.state === 'replay') return state.answer;
  return state?.state === 'reused' ? keyReused(SCALE_API, 'ruleViolated') : undefined;
}

function toKeptAnswer({ claim }: Submission, outcome: Outcome | undefined): KeptAnswer[] {
  if (claim === undefined || outcome === undefined) return [];
  return [{ claim, answer: outcome instanceof AppError ? errorReply(outcome, claim.path) : outcome }];
}
