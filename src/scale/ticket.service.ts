import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { REPLAYED_HEADER } from '../contracts/common/idempotency.js';
import { type CreateScaleTicketRequest, RESULT_HEADER } from '../contracts/scale/scale.dto.js';
import { BATCH_LIMITS, Batcher, type BatchLimits, type Entry } from '../database/batcher.js';
import type { Lane } from '../database/fair-queue.js';
import { settleBatch } from '../database/settle-batch.js';
import { AppError, unavailable } from '../errors/app-error.js';
import { type Claim, nameOfClaim } from '../idempotency/idempotency.repository.js';
import { Metrics } from '../observability/metrics.js';
import { type PushOrigin, toPush } from './ticket.js';
import { flowKeys } from './ticket.rules.js';
import { canRetry } from './ticket.repository.js';
import { type Outcome, type Outcomes, type Submission, type TicketAnswer, TicketWriter } from './ticket-writer.js';

const LIMITS: BatchLimits = { ...BATCH_LIMITS, overload: 'tickets' };

/** How long a batch is retried while other instances keep changing its tickets. */
const RETRY_MS = 4000;

type TicketEntry = Entry<Submission, TicketAnswer>;

/** Creates and updates tickets (sections 2.2, 2.3, 4.1), many in one transaction (docs/adr/0009). */
@Injectable()
export class TicketService {
  private readonly batcher = new Batcher<Submission, TicketAnswer>(LIMITS, (entries) => this.ingest(entries), rowsOf);

  /** Apart, because a batch with keys holds locks over several round trips: pushes without a key must not wait for it. */
  private readonly keyedBatcher = new Batcher<Submission, TicketAnswer>(
    { ...LIMITS, maxRunning: 1 },
    (entries) => this.ingestKeyed(entries),
    rowsOf,
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
    const rest = await this.settle(entries, (submissions) => this.writer.insertNew(submissions));
    if (rest.length > 0) await this.settle(rest, (submissions) => this.writer.write(submissions));
  }

  private async ingestKeyed(entries: readonly TicketEntry[]): Promise<void> {
    let rest = entries;
    while (rest.length > 0) rest = await this.settle(rest, (submissions) => this.writer.writeOncePerKey(submissions));
  }

  /** Settles the entries that get an outcome and returns the others. */
  private settle(
    entries: readonly TicketEntry[],
    write: (submissions: readonly Submission[]) => Promise<Outcomes>,
  ): Promise<readonly TicketEntry[]> {
    return settleBatch(entries, {
      write: async (submissions) => {
        const outcomes = await retryRaces(() => write(submissions));
        this.count(outcomes);
        return outcomes;
      },
      find: async (submissions) => {
        const outcomes = await this.writer.find(submissions);
        this.count(outcomes);
        return outcomes;
      },
    });
  }

  private count(outcomes: Outcomes): void {
    for (const outcome of outcomes) {
      if (outcome !== undefined) this.metrics.tickets.inc({ result: toResultLabel(outcome) });
    }
  }
}

/** The rows for whose locks a submission may wait: those of its flows and of its `Idempotency-Key`. */
const rowsOf = ({ push, claim }: Submission): string[] => [
  ...(claim === undefined ? [] : [nameOfClaim(claim)]),
  ...flowKeys(push),
];

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
  if (outcome.headers[REPLAYED_HEADER] !== undefined) return 'replayed';
  return outcome.headers[RESULT_HEADER] ?? 'refused';
}
