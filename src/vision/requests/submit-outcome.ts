import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { inTransaction } from '../../database/transaction.js';
import type { Next } from '../../jobs/due-rows.js';
import { JobsService } from '../../jobs/jobs.service.js';
import type { Run } from '../../jobs/run.js';
import type { PartnerFailure } from '../../partner-client/partner-failure.js';
import type { Acknowledgement } from '../client/read-acknowledgement.js';
import { VisionFindings } from '../findings.js';
import type { VisionConnection } from '../vision-connections.js';
import { notBeyond } from './deadline.js';
import { type Part, PartsStore } from './parts.store.js';
import { jittered, pollDelayMs } from './poll-schedule.js';
import { POLL } from './poll.work.js';
import { submitVerdict } from './submit-rules.js';

/** Writes what came of a POST. */
@Injectable()
export class SubmitOutcome {
  constructor(
    private readonly dataSource: DataSource,
    private readonly parts: PartsStore,
    private readonly findings: VisionFindings,
    private readonly jobs: JobsService,
  ) {}

  /** What was wrong with the answer is told last: where that fails, the part must not be sent again. */
  async accepted(run: Run, part: Part, connection: VisionConnection, read: Acknowledgement): Promise<Next> {
    const { status, message, requestId } = read;
    if (status === 'failed') {
      const said = message === undefined ? '' : `: ${message}`;
      await this.end(run, part, 'failed', `The partner refused the request${said}`, requestId);
    } else await this.taken(run, part, status, requestId);
    await this.findings.record(connection, read.findings);
    return 'done';
  }

  /** Throws the failure where the part is to be sent again. */
  async failed(run: Run, part: Part, failure: PartnerFailure): Promise<Next> {
    const verdict = submitVerdict(failure, part.submitTries + 1);
    if (verdict === 'final') return this.end(run, part, 'failed', failure.message);
    await run.update({ reason: failure.message, ...(verdict === 'waits' ? { submit_tries: part.submitTries } : {}) });
    await inTransaction(this.dataSource, (manager) => this.parts.refresh(manager, part.haulerId, part.requestId));
    throw notBeyond(part.deadlineAt, failure);
  }

  async end(
    run: Run,
    part: Part,
    status: 'failed' | 'expired',
    reason: string,
    partnerRequestId?: string,
  ): Promise<Next> {
    await inTransaction(this.dataSource, async (manager) => {
      await run.finish('done', { partner_request_id: partnerRequestId ?? null }, manager);
      await this.parts.move(manager, part, status, reason);
    });
    return 'done';
  }

  private async taken(run: Run, part: Part, status: 'processing' | 'ready', requestId?: string): Promise<void> {
    await inTransaction(this.dataSource, async (manager) => {
      // What is ready already is fetched at once.
      const delayMs = status === 'ready' ? 0 : jittered(pollDelayMs({ asked: 0, openMs: 0 }), Math.random());
      const now = await this.parts.now(manager);
      const nextPollAt = new Date(now.getTime() + delayMs);
      const asked = { submitted_at: now, asked_alone_at: now, next_poll_at: nextPollAt };
      // First, in the order in which a round locks: the poll, then parts, then requests.
      await wakePoll(manager, part, nextPollAt);
      await this.parts.move(manager, part, status, null);
      // After the move: what is ready has no link yet, and has to be asked about all the same.
      await run.finish('done', { partner_request_id: requestId ?? null, ...asked }, manager);
    });
    if (status === 'ready') this.jobs.wake(POLL);
  }
}

/**
 * The customer's poll comes no later than `at`, unless it has failed: then its backoff, or the partner's `Retry-After`,
 * stays. Its row is locked by this, so that a poll that ends now sees the part.
 */
async function wakePoll(manager: EntityManager, part: Part, at: Date): Promise<void> {
  await manager.query(
    `INSERT INTO video_polls AS poll (hauler_id, connection_id, customer_id, due_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (hauler_id, connection_id, customer_id) DO UPDATE SET due_at =
       CASE WHEN poll.last_error IS NULL OR poll.due_at IS NULL THEN least(poll.due_at, excluded.due_at) ELSE poll.due_at END`,
    [part.haulerId, part.connectionId, part.customerId, at],
  );
}
