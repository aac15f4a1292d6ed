import { Injectable } from '@nestjs/common';
import { SCALE_API } from '../contracts/scale/scale.api.js';
import { RESULT_HEADER } from '../contracts/scale/ticket-result.js';
import type { Connection } from '../database/connection.js';
import { AppError, violated } from '../errors/app-error.js';
import { errorReply } from '../errors/error-body.js';
import { claim, keep, type KeptAnswer, type Outcome as ClaimOutcome } from '../idempotency/claims.js';
import { keyReused } from '../idempotency/idempotency-key.js';
import { CatalogService } from '../site-sync/catalog/catalog.service.js';
import { brokenRules, type References } from './business-rules.js';
import type { Outcome, Submission } from './submission.js';
import { TicketBook } from './ticket-book.js';
import { findTickets, writeIfNew, writeTickets } from './ticket-store.js';

/** Decides on a batch of submissions and writes what came of it, on one connection, all or nothing. */
@Injectable()
export class TicketWriter {
  /** Whether the last batch brought new tickets only: the next one most likely does. */
  private expectNew = true;

  constructor(private readonly catalog: CatalogService) {}

  /** One outcome per submission. `undefined`: the same `Idempotency-Key` stands before it in this batch, submit it again. */
  write(connection: Connection, submissions: readonly Submission[]): Promise<(Outcome | undefined)[]> {
    // Without a key the one statement that writes is the whole transaction, and two round trips are saved.
    if (submissions.every(({ claim }) => claim === undefined)) return this.decideAndWrite(connection, submissions);
    return connection.transaction(() => this.writeOncePerKey(connection, submissions));
  }

  /** A key that was answered before is answered the same again; the other answers are kept (decision 16). */
  private async writeOncePerKey(
    connection: Connection,
    submissions: readonly Submission[],
  ): Promise<(Outcome | undefined)[]> {
    const keyed = submissions.filter((submission) => submission.claim !== undefined);
    const states = await claim(
      connection,
      keyed.flatMap(({ claim }) => claim ?? []),
    );
    const stateOf = new Map(keyed.map((submission, i) => [submission, states[i]]));
    const open = submissions.filter((submission) => isOpen(stateOf.get(submission)));
    const decided = await this.decideAndWrite(connection, open);
    const outcomes = new Map(open.map((submission, i) => [submission, decided[i]]));
    await keep(
      connection,
      open.flatMap((submission) => keptAnswer(submission, outcomes.get(submission))),
    );
    return submissions.map((submission) => outcomes.get(submission) ?? earlierOutcome(stateOf.get(submission)));
  }

  private async decideAndWrite(connection: Connection, submissions: readonly Submission[]): Promise<Outcome[]> {
    if (submissions.length === 0) return [];
    const atOnce = this.expectNew ? await writeAtOnce(connection, submissions) : undefined;
    if (atOnce !== undefined) return atOnce;
    const pushes = submissions.map(({ push }) => push);
    const references = submissions.map(referencesOf);
    const [catalog, tickets] = await Promise.all([
      this.catalog.resolve(connection, references),
      findTickets(connection, pushes),
    ]);
    const book = new TicketBook(tickets);
    const outcomes = pushes.map((push, i) => {
      const violations = brokenRules(references[i]!, catalog);
      return violations.length > 0 ? violated(SCALE_API, 'ruleViolated', violations) : outcomeOf(book.receive(push));
    });
    const changes = book.changes();
    await writeTickets(connection, changes);
    this.expectNew = changes.created.length === submissions.length;
    return outcomes;
  }
}

/**
 * The usual batch in one round trip: every push brings a new ticket, and breaks no rule. It is decided as if nothing
 * was stored, and written only if the database finds that true; else nothing is written, and the answer is `undefined`.
 */
async function writeAtOnce(connection: Connection, submissions: readonly Submission[]): Promise<Outcome[] | undefined> {
  const book = new TicketBook([]);
  const outcomes = submissions.map(({ push }) => outcomeOf(book.receive(push)));
  const changes = book.changes();
  if (changes.created.length < submissions.length) return undefined;
  const written = await writeIfNew(connection, changes, submissions.map(referencesOf));
  return written ? outcomes : undefined;
}

const referencesOf = ({ push, materialIds }: Submission): References => ({
  haulerId: push.haulerId,
  siteId: push.siteId,
  materialIds,
});

function outcomeOf(received: ReturnType<TicketBook['receive']>): Outcome {
  if (received === 'conflict') return flowConflict();
  return {
    status: 200,
    headers: { [RESULT_HEADER]: received.result },
    body: { success: true, disposalTicketId: received.ticket.id },
  };
}

/** Decision 20. */
function flowConflict(): AppError {
  const violations = ['inboundFlow.ticketNumber', 'outboundFlow.ticketNumber'].map((path) => ({
    path,
    rule: 'flowConflict',
    message: `${path} belongs to another ticket than the other flow's`,
  }));
  return violated(SCALE_API, 'ruleViolated', violations, { details: { reason: 'FLOW_CONFLICT' } });
}

const isOpen = (state: ClaimOutcome | undefined) => state === undefined || state.state === 'claimed';

function earlierOutcome(state: ClaimOutcome | undefined): Outcome | undefined {
  if (state?.state === 'replay') return state.answer;
  return state?.state === 'reused' ? keyReused(SCALE_API, 'ruleViolated') : undefined;
}

function keptAnswer({ claim }: Submission, outcome: Outcome | undefined): KeptAnswer[] {
  if (claim === undefined || outcome === undefined) return [];
  return [{ claim, answer: outcome instanceof AppError ? errorReply(outcome, claim.path) : outcome }];
}
