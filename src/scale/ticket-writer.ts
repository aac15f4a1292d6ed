import { Injectable } from '@nestjs/common';
import { SCALE_API } from '../contracts/scale/scale.api.js';
import { RESULT_HEADER } from '../contracts/scale/ticket-result.js';
import type { Connection, SharedConnection } from '../database/connection.js';
import { HotPathPool } from '../database/hot-path-pool.js';
import { AppError, violated } from '../errors/app-error.js';
import { errorReply } from '../errors/error-body.js';
import { claim, type ClaimOutcome, keep, type KeptAnswer } from '../idempotency/claims.js';
import { keyReused } from '../idempotency/idempotency-key.js';
import { type CatalogLookup, CatalogService } from '../site-sync/catalog/catalog.service.js';
import { brokenRules } from './business-rules.js';
import { NewTickets } from './new-tickets.js';
import type { Outcome, Submission } from './submission.js';
import { TicketBook } from './ticket-book.js';
import { findTickets, writeTickets } from './ticket-store.js';

/** Decides on a batch of submissions and writes what came of it, all or nothing. */
@Injectable()
export class TicketWriter {
  /** Whether most of the last batch brought new tickets: the next one most likely does. */
  private expectNew = true;

  constructor(
    private readonly hotPath: HotPathPool,
    private readonly catalog: CatalogService,
    private readonly newTickets: NewTickets,
  ) {}

  /** One outcome per submission; `undefined` where there is none yet, and it is to be submitted again. */
  write(submissions: readonly Submission[]): Promise<(Outcome | undefined)[]> {
    // Without a key one statement is a whole transaction: two round trips are saved, and others may use the connection.
    if (submissions.every(({ claim }) => claim === undefined)) {
      return this.hotPath.share((connection) => this.writeWithoutKeys(connection, submissions));
    }
    return this.hotPath.lend((connection) =>
      connection.transaction(() => this.writeOncePerKey(connection, submissions)),
    );
  }

  /** What was new is committed before the rest is looked at, so only the rest may be tried again. */
  private async writeWithoutKeys(
    connection: SharedConnection,
    submissions: readonly Submission[],
  ): Promise<(Outcome | undefined)[]> {
    const outcomes = await this.writeNewOnes(connection, submissions);
    if (outcomes.some((outcome) => outcome !== undefined)) return outcomes;
    return this.decideAndWrite(connection, submissions);
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
    const early = await this.writeNewOnes(connection, open);
    const outcomes = new Map(open.map((submission, i) => [submission, early[i]]));
    const rest = open.filter((submission) => outcomes.get(submission) === undefined);
    const late = await this.decideAndWrite(connection, rest);
    rest.forEach((submission, i) => outcomes.set(submission, late[i]));
    await keep(
      connection,
      open.flatMap((submission) => keptAnswer(submission, outcomes.get(submission))),
    );
    return submissions.map((submission) => outcomes.get(submission) ?? earlierOutcome(stateOf.get(submission)));
  }

  /**
   * The usual push brings a new ticket, and breaks no rule. Such ones are decided as if nothing was stored, and written
   * in one round trip if the database finds that true; the others have no outcome yet.
   */
  private async writeNewOnes(
    connection: SharedConnection,
    submissions: readonly Submission[],
  ): Promise<(Outcome | undefined)[]> {
    const none = submissions.map(() => undefined);
    if (!this.expectNew || submissions.length === 0) return none;
    const book = new TicketBook([]);
    const received = submissions.map(({ push }) => book.receive(push));
    const changes = book.changes();
    // Two pushes of one flow have to be decided one after the other.
    if (changes.created.length < submissions.length) return none;
    const written = await this.newTickets.write(connection, changes, submissions.map(referencesOf));
    this.expectNew = isMost(written.size, submissions);
    return submissions.map(({ push }, i) => (written.has(push.id) ? outcomeOf(received[i]!) : undefined));
  }

  private async decideAndWrite(connection: SharedConnection, submissions: readonly Submission[]): Promise<Outcome[]> {
    if (submissions.length === 0) return [];
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
    this.expectNew = isMost(changes.created.length, submissions);
    return outcomes;
  }
}

const isMost = (count: number, of: readonly unknown[]) => count * 2 > of.length;

const referencesOf = ({ push, materialIds }: Submission): CatalogLookup => ({
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
export function flowConflict(): AppError {
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
