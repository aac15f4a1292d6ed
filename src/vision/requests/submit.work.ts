import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { inTransaction } from '../../database/transaction.js';
import type { Next } from '../../jobs/due-rows.js';
import { JobsService } from '../../jobs/jobs.service.js';
import type { Run } from '../../jobs/run.js';
import { PartnerFailure } from '../../partner-client/partner-failure.js';
import type { Acknowledged } from '../vision.client.js';
import type { VisionConnection } from '../vision-connections.js';
import { notBeyond } from './not-beyond.js';
import { type Part, PartsStore } from './parts.store.js';
import { jittered, pollDelayMs } from './poll-schedule.js';
import { SubmitPartner } from './submit-partner.js';
import { MOST_SUBMITS, submitVerdict } from './submit-rules.js';

export const SUBMIT = 'vision submit';

interface PartKey {
  readonly hauler_id: string;
  readonly id: string;
}

/** Sends each part to its partner: one POST, whose tries are counted in the row before it is sent. */
@Injectable()
export class SubmitWork implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly jobs: JobsService,
    private readonly parts: PartsStore,
    private readonly partner: SubmitPartner,
  ) {}

  onModuleInit(): void {
    this.jobs.register<PartKey>({
      name: SUBMIT,
      table: 'video_request_parts',
      key: { hauler_id: 'uuid', id: 'uuid' },
      where: "status = 'submitting'",
      concurrency: 8,
      backoff: { firstMs: 1_000, factor: 3, maxMs: 60_000, jitter: 0.2 },
      run: (run) => this.submit(run),
    });
  }

  private async submit(run: Run<PartKey>): Promise<Next> {
    const part = await this.parts.find(run.row.hauler_id, run.row.id);
    const connection = await this.partner.connections.find(part.connectionId);
    if (connection === undefined) return this.end(run, part, 'failed', 'The connection was deleted.');
    if (part.deadlineAt.getTime() <= Date.now()) {
      return this.end(run, part, 'expired', 'The partner had not taken the request when its deadline came.');
    }
    if (part.submitTries >= MOST_SUBMITS) {
      return this.end(run, part, 'failed', `The request was sent ${part.submitTries} times, and no answer came back.`);
    }
    // Counted before it is sent: a process that is killed meanwhile has sent it as well.
    await run.update({ submit_tries: part.submitTries + 1 });
    try {
      await this.accepted(run, part, connection, await this.partner.submit(part, connection, run.signal));
      return 'done';
    } catch (error) {
      if (!(error instanceof PartnerFailure)) throw error;
      return this.failed(run, part, error);
    }
  }

  private async failed(run: Run<PartKey>, part: Part, failure: PartnerFailure): Promise<Next> {
    const verdict = submitVerdict(failure, part.submitTries + 1);
    if (verdict === 'final') return this.end(run, part, 'failed', failure.message);
    await run.update({ reason: failure.message, ...(verdict === 'waits' ? { submit_tries: part.submitTries } : {}) });
    await inTransaction(this.dataSource, (manager) => this.parts.refresh(manager, part.haulerId, part.requestId));
    throw notBeyond(part.deadlineAt, failure);
  }

  private async accepted(
    run: Run<PartKey>,
    part: Part,
    connection: VisionConnection,
    { read }: Acknowledged,
  ): Promise<void> {
    await this.partner.findings.record(connection, read.findings);
    const { status, message, requestId } = read;
    if (status === 'failed') {
      const said = message === undefined ? '' : `: ${message}`;
      return void (await this.end(run, part, 'failed', `The partner refused the request${said}`, requestId));
    }
    await inTransaction(this.dataSource, async (manager) => {
      // What is ready already is fetched at once.
      const delayMs = status === 'ready' ? 0 : jittered(pollDelayMs({ asked: 0, openMs: 0 }), Math.random());
      const now = new Date();
      const nextPollAt = new Date(now.getTime() + delayMs);
      const asked = { submitted_at: now, asked_alone_at: now, next_poll_at: nextPollAt };
      await this.parts.move(manager, part, status, null);
      // After the move: what is ready has no link yet, and has to be asked about all the same.
      await run.finish('done', { partner_request_id: requestId ?? null, ...asked }, manager);
      await wakePoll(manager, part, nextPollAt);
    });
    if (status === 'ready') this.jobs.wake('vision poll');
  }

  private async end(
    run: Run<PartKey>,
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
}

/** The customer's poll comes no later than `at`. Its row is locked by this, so that a poll that ends now sees the part. */
async function wakePoll(manager: EntityManager, part: Part, at: Date): Promise<void> {
  await manager.query(
    `INSERT INTO video_polls AS poll (hauler_id, connection_id, customer_id, due_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (hauler_id, connection_id, customer_id) DO UPDATE SET due_at = least(poll.due_at, excluded.due_at)`,
    [part.haulerId, part.connectionId, part.customerId, at],
  );
}
