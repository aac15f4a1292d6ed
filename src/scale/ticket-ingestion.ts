import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { HOT_PATH_CONNECTIONS } from '../database/hot-path-pool.js';
import { isDatabaseUnavailable } from '../database/postgres-errors.js';
import { RESULT_HEADER } from '../contracts/scale/ticket-result.js';
import { AppError, unavailable } from '../errors/app-error.js';
import { REPLAYED_MARK } from '../idempotency/claims.js';
import { Metrics } from '../observability/metrics.js';
import { Batcher, type Entry } from './batcher.js';
import type { Outcome, Submission, TicketAnswer } from './submission.js';
import { mayTryAgain } from './ticket-store.js';
import { TicketWriter } from './ticket-writer.js';

const MIB = 1024 * 1024;

const LIMITS = {
  inFlight: HOT_PATH_CONNECTIONS,
  batch: 128,
  batchBytes: 4 * MIB,
  waiting: 4000,
  waitingBytes: 64 * MIB,
  patience: 4500,
};

/** How long a batch that other instances keep overtaking is tried, in milliseconds. */
const TRY_FOR_MS = 4000;

type Ingesting = Entry<Submission, TicketAnswer>;

/**
 * Takes tickets in, many in one transaction (docs/adr/0009): whoever submits is answered after the commit that holds
 * its push, never before.
 */
@Injectable()
export class TicketIngestion {
  private readonly batcher = new Batcher<Submission, TicketAnswer>(LIMITS, (entries) => this.ingest(entries));

  constructor(
    private readonly writer: TicketWriter,
    private readonly metrics: Metrics,
  ) {}

  submit(submission: Submission): Promise<TicketAnswer> {
    return this.batcher.submit(submission, submission.push.body.length);
  }

  /** Settles every entry. What nobody expected fails alone: the batch is halved until the culprit stands by itself. */
  private async ingest(entries: readonly Ingesting[]): Promise<void> {
    try {
      const outcomes = await this.untilNotOvertaken(entries.map(({ value }) => value));
      this.count(outcomes);
      const unsettled = entries.filter((entry, i) => !settle(entry, outcomes[i]));
      if (unsettled.length > 0) await this.ingest(unsettled);
    } catch (error) {
      // Where the connection was lost the commit may have arrived: only the caller may decide to try again.
      if (entries.length === 1 || error instanceof AppError || isDatabaseUnavailable(error)) {
        for (const entry of entries) entry.reject(error);
        return;
      }
      const half = entries.length >> 1;
      await this.ingest(entries.slice(0, half));
      await this.ingest(entries.slice(half));
    }
  }

  /** Once for each result that a batch had: a look for its label would cost every ticket. */
  private count(outcomes: readonly (Outcome | undefined)[]): void {
    const counts = new Map<string, number>();
    for (const outcome of outcomes) {
      if (outcome === undefined) continue;
      const result = resultOf(outcome);
      counts.set(result, (counts.get(result) ?? 0) + 1);
    }
    for (const [result, count] of counts) this.metrics.tickets.inc({ result }, count);
  }

  private async untilNotOvertaken(submissions: readonly Submission[]): Promise<(Outcome | undefined)[]> {
    const end = performance.now() + TRY_FOR_MS;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.writer.write(submissions);
      } catch (error) {
        if (!mayTryAgain(error)) throw error;
        if (performance.now() > end)
          throw unavailable('the ticket keeps changing; try again shortly', { cause: error });
        await delay(Math.random() * Math.min(2 ** attempt, 64));
      }
    }
  }
}

/** What the push came to; of one that was answered before, that it was. */
function resultOf(outcome: Outcome): string {
  if (outcome instanceof AppError) return 'refused';
  if (outcome.headers[REPLAYED_MARK] !== undefined) return 'replayed';
  return outcome.headers[RESULT_HEADER] ?? 'refused';
}

/** False where there is no outcome yet. */
function settle(entry: Ingesting, outcome: Outcome | undefined): boolean {
  if (outcome === undefined) return false;
  if (outcome instanceof AppError) entry.reject(outcome);
  else entry.resolve(outcome);
  return true;
}
