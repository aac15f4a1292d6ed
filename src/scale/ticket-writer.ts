import { Injectable } from '@nestjs/common';
import { SCALE_API } from '../contracts/scale/scale.api.js';
import { formatInstant, type Instant } from '../contracts/common/instant.js';
import {
  type CreateScaleTicketResponse,
  RESULT_HEADER,
  type TicketResult,
  VERSION_HEADER,
} from '../contracts/scale/scale.dto.js';
import { Database } from '../database/database.js';
import type { Session } from '../database/session.js';
import { AppError, violated } from '../errors/app-error.js';
import { type HappenedEvent, Outbox } from '../events/outbox.js';
import type { Answer } from '../http/answer.js';
import type { Claim } from '../idempotency/idempotency.repository.js';
import { answerOncePerKey, keyReused } from '../idempotency/idempotency-key.js';
import { findReferences, requestCatalog } from '../site-sync/catalog/catalog.repository.js';
import { catalogViolations, flowConflict, futureViolations, unknownRecords } from './ticket-refusals.rules.js';
import { BatchState, haveCommonFlow } from './ticket.rules.js';
import { findRevisions, findTickets, insertNewTickets, writeChanges } from './ticket.repository.js';
import type { Push } from './ticket.js';

/** A push, with its claim if the caller sent an `Idempotency-Key` (decision 16). */
export interface Submission {
  readonly push: Push;
  readonly claim: Claim | undefined;
}

/** The response of section 2.3, or the text of an earlier response. */
export type TicketAnswer = Answer<CreateScaleTicketResponse | string>;
type Written = Answer<CreateScaleTicketResponse> | AppError;

/** A response, or a 422 with nothing written. */
export type Outcome = TicketAnswer | AppError;

/** Outcomes in the order of the submissions; `undefined` if the submission must be written again, see each method. */
export type Outcomes = (Outcome | undefined)[];

/** Decides on a batch of submissions and writes its changes, all or none. */
@Injectable()
export class TicketWriter {
  constructor(
    private readonly database: Database,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Most pushes create a ticket and violate no rule. Inserts them in one statement. The others have no outcome: they need
   * `write`.
   */
  async insertNew(submissions: readonly Submission[]): Promise<Outcomes> {
    const pushes = submissions.map(({ push }) => push);
    // Pushes of one flow must be applied one after the other.
    if (haveCommonFlow(pushes)) return pushes.map(() => undefined);
    const possible = pushes.filter((push) => futureViolations(push).length === 0);
    const wanted = this.isAnnounced(possible);
    // Without an endpoint a batch is one statement, as it was before there were webhooks.
    const inserted = await this.database.hot.use(
      (wanted instanceof Promise ? await wanted : wanted)
        ? (session) => session.transaction(() => this.insertAnnounced(session, possible))
        : (session) => insertNewTickets(session, possible),
    );
    return pushes.map(({ id }) => (inserted.has(id) ? stored({ id, version: null }, 'created') : undefined));
  }

  /** What became of submissions whose transaction lost its connection: those that are kept have a revision of their exchange. */
  async find(submissions: readonly Submission[]): Promise<(TicketAnswer | undefined)[]> {
    const pushes = submissions.map(({ push }) => push);
    const kept = await this.database.hot.use((session) => findRevisions(session, pushes));
    return pushes.map(({ origin }) => {
      const revision = kept.find(({ exchangeId }) => exchangeId === origin.exchangeId);
      return revision && stored({ id: revision.ticketId, version: revision.version }, revision.result);
    });
  }

  /** Every submission gets an outcome. */
  write(submissions: readonly Submission[]): Promise<Written[]> {
    return this.database.hot.use((session) => this.writeAnnounced(session, submissions));
  }

  /** Submissions with an `Idempotency-Key`, see `answerOncePerKey`. */
  writeOncePerKey(submissions: readonly Submission[]): Promise<Outcomes> {
    return this.database.hot.use((session) =>
      session.transaction(() =>
        answerOncePerKey(
          session,
          submissions,
          () => keyReused(SCALE_API, 'ruleViolated'),
          (claimed) => this.writeAnnounced(session, claimed),
        ),
      ),
    );
  }

  private isAnnounced(pushes: readonly Push[], session?: Session): boolean | Promise<boolean> {
    return this.outbox.wants(
      TOPICS,
      pushes.map(({ haulerId }) => haulerId),
      session,
    );
  }

  private async insertAnnounced(session: Session, pushes: readonly Push[]): Promise<ReadonlySet<string>> {
    const inserted = await insertNewTickets(session, pushes);
    const created = pushes.filter(({ id }) => inserted.has(id));
    await this.outbox.record(
      session,
      ...created.map(({ haulerId, id }) => ticketEvent('ticket.created', haulerId, id)),
    );
    return inserted;
  }

  private async writeAnnounced(session: Session, submissions: readonly Submission[]): Promise<Written[]> {
    const pushes = submissions.map(({ push }) => push);
    if (!(await this.isAnnounced(pushes, session))) return writeOn(session, submissions);
    return session.transaction(async () => {
      const outcomes = await writeOn(session, submissions);
      const events = outcomes.map((outcome, i) => eventOf(outcome, submissions[i]?.push.haulerId ?? ''));
      await this.outbox.record(session, ...events.filter((event) => event !== undefined));
      return outcomes;
    });
  }
}

const TOPICS = ['ticket.created', 'ticket.updated'] as const;

const ticketEvent = (topic: (typeof TOPICS)[number], haulerId: string, ticketId: string): HappenedEvent => ({
  topic,
  haulerId,
  data: { ticketId },
});

/** Undefined for a push that changed no ticket. */
function eventOf(outcome: Written, haulerId: string): HappenedEvent | undefined {
  if (outcome instanceof AppError) return undefined;
  const result = outcome.headers[RESULT_HEADER];
  if (result !== 'created' && result !== 'updated') return undefined;
  return ticketEvent(`ticket.${result}`, haulerId, outcome.body.disposalTicketId);
}

async function writeOn(session: Session, submissions: readonly Submission[]): Promise<Written[]> {
  const pushes = submissions.map(({ push }) => push);
  const [catalog, tickets] = await Promise.all([findReferences(session, pushes), findTickets(session, pushes)]);
  const state = new BatchState(tickets);
  const unknown = pushes.map((push) => catalogViolations(push, catalog));
  const refused = pushes.filter((_, i) => (unknown[i] ?? []).length > 0).map(({ haulerId }) => haulerId);
  const synchronised = refused.length > 0 ? await requestCatalog(session, [...new Set(refused)]) : undefined;
  const outcomes = pushes.map((push, i) => {
    const ahead = futureViolations(push);
    const own = unknown[i] ?? [];
    if (own.length > 0) return unknownRecords([...own, ...ahead], synchronised?.get(push.haulerId));
    return ahead.length > 0 ? violated(SCALE_API, 'ruleViolated', ahead) : toOutcome(state.apply(push));
  });
  await writeChanges(session, state.changes());
  return outcomes;
}

function toOutcome(applied: ReturnType<BatchState['apply']>): Written {
  if ('conflict' in applied) return flowConflict(applied);
  return stored(applied.ticket, applied.result);
}

/** A stale push gets the version of the contents that won (decision 21). */
function stored(
  { id, version }: { readonly id: string; readonly version: Instant | null },
  result: TicketResult,
): Answer<CreateScaleTicketResponse> {
  const headers: Record<string, string> = { [RESULT_HEADER]: result };
  if (result === 'stale' && version !== null) headers[VERSION_HEADER] = formatInstant(version);
  return { status: 200, headers, body: { success: true, disposalTicketId: id } };
}
