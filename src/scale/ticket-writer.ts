import { Injectable } from '@nestjs/common';
import {
  type CreateScaleTicketResponse,
  RESULT_HEADER,
  SCALE_API,
  type TicketResult,
  VERSION_HEADER,
} from '../contracts/scale/scale.api.js';
import { formatInstant, type Instant } from '../contracts/common/instant.js';
import { Database } from '../core/database/database.js';
import type { Session } from '../core/database/session.js';
import { LOCK_TIMEOUT_MS, withLockTimeout } from '../core/database/settle-batch.js';
import { AppError, violated } from '../core/errors/app-error.js';
import { Outbox, toEvents } from '../webhooks/events/outbox.js';
import type { HappenedEvent } from '../webhooks/events/outbox.repository.js';
import type { Answer } from '../core/http/answer.js';
import type { Claim } from '../core/idempotency/idempotency.repository.js';
import { answerOncePerKey, keyReused } from '../core/idempotency/idempotency-key.js';
import { findReferences, requestCatalog } from '../site-sync/catalog/catalog.repository.js';
import { catalogViolations, flowConflict, futureViolations, unknownRecords } from './ticket-refusals.rules.js';
import { BatchState, firstOfLocks } from './ticket.rules.js';
import { findTickets, insertNewTickets, writeChanges } from './ticket.repository.js';
import type { Push } from './ticket.js';

/** A push, with its claim if the caller sent an `Idempotency-Key` (decision 16). */
export interface Submission {
  readonly push: Push;
  readonly claim: Claim | undefined;
  /** The names of the rows for whose locks it may wait: those of its flows and of its `Idempotency-Key`. */
  readonly lockNames: readonly string[];
}

/** The response of section 2.3, or the text of an earlier response. */
export type TicketAnswer = Answer<CreateScaleTicketResponse | string>;
type Written = Answer<CreateScaleTicketResponse> | AppError;

/** A response, or a 422 with nothing written. */
export type Outcome = TicketAnswer | AppError;

/** Outcomes in the order of the submissions; `undefined` if the submission must be written again, see each method. */
export type Outcomes = (Outcome | undefined)[];

/**
 * Decides on a batch of submissions and writes its changes, with what is announced of them, all or none. `lockTimeoutMs` replaces
 * that of the connection.
 */
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
  async insertNew(submissions: readonly Submission[], lockTimeoutMs?: number): Promise<Outcomes> {
    const pushes = firstOfLocks(submissions).map(({ push }) => push);
    const possible = pushes.filter((push) => futureViolations(push).length === 0);
    const inserted = await this.outbox.announce(
      (isAnnounced) => {
        const insert = (session: Session) => insertNewTickets(session, possible, isAnnounced);
        return lockTimeoutMs === undefined
          ? this.database.hot.share(insert)
          : withLockTimeout(this.database.hot, lockTimeoutMs, insert);
      },
      (ids) => possible.filter(({ id }) => ids.has(id)).map(({ haulerId, id }) => ticketEvent('created', haulerId, id)),
    );
    return submissions.map(({ push: { id } }) =>
      inserted.has(id) ? stored({ id, version: null }, 'created') : undefined,
    );
  }

  /** Every submission gets an outcome. */
  write(submissions: readonly Submission[], lockTimeoutMs?: number): Promise<Written[]> {
    return this.outbox.announce(
      (isAnnounced) =>
        withLockTimeout(this.database.hot, lockTimeoutMs, (session) => writeOn(session, submissions, isAnnounced)),
      (outcomes) => eventsOf(outcomes, submissions),
    );
  }

  /** Submissions with an `Idempotency-Key`, see `answerOncePerKey`. */
  writeOncePerKey(submissions: readonly Submission[], lockTimeoutMs = LOCK_TIMEOUT_MS): Promise<Outcomes> {
    return this.outbox.announce(
      (isAnnounced) =>
        withLockTimeout(this.database.hot, lockTimeoutMs, (session) =>
          answerOncePerKey(
            session,
            submissions,
            () => keyReused(SCALE_API, 'ruleViolated'),
            (claimed) => writeOn(session, claimed, isAnnounced),
          ),
        ),
      (outcomes) => eventsOf(outcomes, submissions),
    );
  }
}

const ticketEvent = (result: 'created' | 'updated', haulerId: string, ticketId: string): HappenedEvent => ({
  topic: `ticket.${result}`,
  haulerId,
  data: { ticketId },
});

/** Of the pushes that changed a ticket now; a replayed answer did so before. */
function eventsOf(outcomes: Outcomes, submissions: readonly Submission[]): HappenedEvent[] {
  return outcomes.flatMap((outcome, i) => {
    if (outcome === undefined || outcome instanceof AppError || typeof outcome.body === 'string') return [];
    const result = outcome.headers[RESULT_HEADER];
    if (result !== 'created' && result !== 'updated') return [];
    return [ticketEvent(result, submissions[i]?.push.haulerId ?? '', outcome.body.disposalTicketId)];
  });
}

async function writeOn(session: Session, submissions: readonly Submission[], isAnnounced: boolean): Promise<Written[]> {
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
  const events = isAnnounced ? toEvents(eventsOf(outcomes, submissions)) : undefined;
  await writeChanges(session, state.changes(), events);
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
