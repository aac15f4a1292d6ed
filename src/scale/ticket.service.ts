import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { type CreateScaleTicketRequest, RESULT_HEADER } from '../contracts/scale/scale.dto.js';
import { BATCH_LIMITS, Batcher, type BatchLimits, type Entry } from '../database/batcher.js';
import type { Lane } from '../database/fair-queue.js';
import { isDatabaseUnavailable } from '../database/postgres-errors.js';
import { AppError, unavailable } from '../errors/app-error.js';
import { type Claim, REPLAYED_MARK } from '../idempotency/idempotency.repository.js';
import { Metrics } from '../observability/metrics.js';
import { type PushOrigin, toPush } from './ticket.js';
import { canRetry } from './ticket.repository.js';
import { type Outcome, type Outcomes, type Submission, type TicketAnswer, TicketWriter } from './ticket-writer.js';

const LIMITS: BatchLimits = { ...BATCH_LIMITS, overload: 'tickets' };

/** How long a batch is retried while other instances keep changing its tickets. */
const RETRY_MS = 4000;

type TicketEntry = Entry<Submission, TicketAnswer>;

/** Creates and updates tickets (sections 2.2, 2.3, 4.1), many in one transaction (docs/adr/0009). */
@Injectable()
export class TicketService {
  private readonly batcher = new Batcher<Submission, TicketAnswer>(LIMITS, (entries) => this.ingest(entries));

  /** Apart, because a batch with keys holds locks over several round trips: pushes without a key must not wait for it. */
  private readonly keyedBatcher = new Batcher<Submission, TicketAnswer>({ ...LIMITS, maxRunning: 1 }, (entries) =>
    this.ingestKeyed(entries),
  );

  constructor(
    private readonly writer: TicketWriter,
    private readonly metrics: Metrics,
  ) {
    const waiting = new Gauge({
      name: 'tickets_waiting',
      help: 'Ticket pushes that wait for a batch, and their bytes',
      labelNames: ['unit'],
      registers: [metrics.registry],
      collect: () => {
        const [one, keyed] = [this.batcher.waiting, this.keyedBatcher.waiting];
        waiting.set({ unit: 'pushes' }, one.entries + keyed.entries);
        waiting.set({ unit: 'bytes' }, one.bytes + keyed.bytes);
      },
    });
  }

  /**
   * Answers after the commit. Rejects with `ruleViolated` if a business rule is violated or the flows belong to two
   * tickets (decisions 20, 24).
   */
  create(
    request: CreateScaleTicketRequest,
    haulerId: string,
    body: string,
    claim: Claim | undefined,
    origin?: PushOrigin,
  ): Promise<TicketAnswer> {
    const submission = { push: toPush(request, haulerId, body, origin), claim };
    return this.batcherOf(claim !== undefined).submit(submission, body.length, [haulerId, origin?.apiKeyId ?? '']);
  }

  /** Throws `unavailable` if a push of this size would be refused. */
  expectRoom(bytes: number, lane: Lane, isKeyed: boolean): void {
    this.batcherOf(isKeyed).expectRoom(bytes, lane);
  }

  private batcherOf(isKeyed: boolean): Batcher<Submission, TicketAnswer> {
    return isKeyed ? this.keyedBatcher : this.batcher;
  }

  private async ingest(entries: readonly TicketEntry[]): Promise<void> {
    const rest = await this.settleAll(entries, (submissions) => this.writer.insertNew(submissions));
    if (rest.length > 0) await this.settleAll(rest, (submissions) => this.writer.write(submissions));
  }

  private async ingestKeyed(entries: readonly TicketEntry[]): Promise<void> {
    let rest = entries;
    while (rest.length > 0)
      rest = await this.settleAll(rest, (submissions) => this.writer.writeOncePerKey(submissions));
  }

  /** Settles the entries that get an outcome and returns the others. After an unexpected error it halves the batch, so that a bad entry fails alone. */
  private async settleAll(
    entries: readonly TicketEntry[],
    write: (submissions: readonly Submission[]) => Promise<Outcomes>,
  ): Promise<readonly TicketEntry[]> {
    try {
      const submissions = entries.map(({ value }) => value);
      const outcomes = await retryRaces(() => write(submissions));
      this.count(outcomes);
      return entries.filter((entry, i) => !settle(entry, outcomes[i]));
    } catch (error) {
      // If the connection was lost, the commit may have succeeded: only the caller can decide to push again.
      if (entries.length === 1 || error instanceof AppError || isDatabaseUnavailable(error)) {
        for (const entry of entries) entry.reject(error);
        return [];
      }
      const half = entries.length >> 1;
      const first = await this.settleAll(entries.slice(0, half), write);
      return [...first, ...(await this.settleAll(entries.slice(half), write))];
    }
  }

  private count(outcomes: Outcomes): void {
    for (const outcome of outcomes) {
      if (outcome !== undefined) this.metrics.tickets.inc({ result: toResultLabel(outcome) });
    }
  }
}

/** Runs `write` again while other instances change its tickets between reading and writing. */
async function retryRaces(write: () => Promise<Outcomes>): Promise<Outcomes> {
  const end = performance.now() + RETRY_MS;
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      if (!canRetry(error)) throw error;
      if (performance.now() > end) throw unavailable('the ticket keeps changing; try again shortly', { cause: error });
      await delay(Math.random() * Math.min(2 ** attempt, 64));
    }
  }
}

function toResultLabel(outcome: Outcome): string {
  if (outcome instanceof AppError) return 'refused';
  if (outcome.headers[REPLAYED_MARK] !== undefined) return 'replayed';
  return outcome.headers[RESULT_HEADER] ?? 'refused';
}

/** Returns false if there is no outcome. */
function settle(entry: TicketEntry, outcome: Outcome | undefined): boolean {
  if (outcome === undefined) return false;
  if (outcome instanceof AppError) entry.reject(outcome);
  else entry.resolve(outcome);
  return true;
}
