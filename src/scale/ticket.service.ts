import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { REPLAYED_HEADER } from '../contracts/common/idempotency.js';
import { type CreateScaleTicketRequest, RESULT_HEADER } from '../contracts/scale/scale.api.js';
import { Batcher } from '../core/database/batcher.js';
import { ContentionError, type Write } from '../core/database/settle-batch.js';
import { AppError } from '../core/errors/app-error.js';
import { type Claim, nameOfClaim } from '../core/idempotency/idempotency.repository.js';
import { Metrics } from '../core/observability/metrics.js';
import { type PushOrigin, toPush } from './ticket.js';
import { flowKeys } from './ticket.rules.js';
import { canRetry } from './ticket.repository.js';
import { type Outcome, type Submission, type TicketAnswer, TicketWriter } from './ticket-writer.js';

/** How often a batch is decided again at once after other instances have changed its tickets. Then it is halved. */
const MAX_ATTEMPTS = 5;

const OPTIONS = { overload: 'tickets', lockNamesOf: ({ lockNames }: Submission) => lockNames } as const;

/** Creates and updates tickets (sections 2.2, 2.3, 4.1), many in one transaction (docs/adr/0009). */
@Injectable()
export class TicketService {
  private readonly batcher = new Batcher<Submission, TicketAnswer>({ ...OPTIONS, maxRunning: 2 }, [
    this.counted((submissions, lockTimeoutMs) => this.writer.insertNew(submissions, lockTimeoutMs)),
    this.counted((submissions, lockTimeoutMs) => this.writer.write(submissions, lockTimeoutMs)),
  ]);

  /** Apart, because a batch with keys holds locks over several round trips: pushes without a key must not wait for it. */
  private readonly keyedBatcher = new Batcher<Submission, TicketAnswer>({ ...OPTIONS, maxRunning: 1 }, [
    this.counted((submissions, lockTimeoutMs) => this.writer.writeOncePerKey(submissions, lockTimeoutMs)),
  ]);

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
    origin: PushOrigin,
  ): Promise<TicketAnswer> {
    const push = toPush(request, haulerId, body, origin);
    const lockNames = claim === undefined ? flowKeys(push) : [...flowKeys(push), nameOfClaim(claim)];
    const batcher = claim === undefined ? this.batcher : this.keyedBatcher;
    return batcher.submit({ push, claim, lockNames }, body.length, [haulerId, origin.apiKeyId ?? '']);
  }

  /** `write`, whose outcomes are counted, and which is repeated where other instances change its tickets meanwhile. */
  private counted(write: Write<Submission, TicketAnswer>): Write<Submission, TicketAnswer> {
    return async (submissions, lockTimeoutMs) => {
      const outcomes = await retryRaces(() => write(submissions, lockTimeoutMs));
      for (const outcome of outcomes) {
        if (outcome !== undefined) this.metrics.tickets.inc({ result: toResultLabel(outcome) });
      }
      return outcomes;
    };
  }
}

async function retryRaces<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      if (!canRetry(error)) throw error;
      if (attempt === MAX_ATTEMPTS) throw new ContentionError(error);
      await delay(Math.random() * 2 ** attempt);
    }
  }
}

function toResultLabel(outcome: Outcome): string {
  if (outcome instanceof AppError) return 'refused';
  if (outcome.headers[REPLAYED_HEADER] !== undefined) return 'replayed';
  return outcome.headers[RESULT_HEADER] ?? 'refused';
}
