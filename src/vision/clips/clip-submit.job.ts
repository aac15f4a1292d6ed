import { Injectable, type OnModuleInit } from '@nestjs/common';
import { WorkService } from '../../core/work/work.service.js';
import type { Next, Run } from '../../core/work/run.js';
import { inCallContext } from '../../core/outbound/outbound-log.js';
import { PartnerFailure } from '../../partner-client/partner-failure.js';
import { VisionFindings } from '../client/findings.repository.js';
import { type Acknowledgement, VisionClient } from '../client/vision.client.js';
import {
  POLL_CLIPS,
  SUBMIT_CLIPS,
  type VisionConnection,
  VisionConnections,
} from '../client/vision-connections.repository.js';
import { pollDelayMs, retryByDeadline, withLastResponse, withPollJitter } from './clip-poll.rules.js';
import {
  existingRequest,
  type ExistingRequest,
  MAX_SUBMITS,
  mayBeTaken,
  submitFailure,
} from './clip-requests.rules.js';
import { ClipsRepository, type Part, recordClipEvent } from './clips.repository.js';

interface PartKey {
  readonly hauler_id: string;
  readonly id: string;
}

/** More than a week of attempts: the deadline of the request normally ends a part first. */
const MAX_ATTEMPTS = 10_000;

/** Sends each part to its partner with one POST. The row counts it before it is sent. */
@Injectable()
export class ClipSubmitJob implements OnModuleInit {
  constructor(
    private readonly work: WorkService,
    private readonly clips: ClipsRepository,
    private readonly connections: VisionConnections,
    private readonly client: VisionClient,
    private readonly findings: VisionFindings,
  ) {}

  onModuleInit(): void {
    this.work.register<PartKey>({
      name: SUBMIT_CLIPS,
      table: 'video_request_parts',
      key: { hauler_id: 'uuid', id: 'uuid' },
      where: "status = 'submitting'",
      callsPartners: true,
      lane: { by: 'connection_id', concurrency: 8 },
      backoff: { firstMs: 1_000, factor: 3, maxMs: 60_000, jitter: 0.2 },
      attempts: { max: MAX_ATTEMPTS, giveUp: (run, reason) => this.giveUp(run, reason) },
      run: (run) => this.submit(run),
    });
  }

  private async giveUp(run: Run<PartKey>, reason: string): Promise<void> {
    await this.end(run, await this.clips.findPart(run.row.hauler_id, run.row.id), 'failed', reason);
  }

  private async submit(run: Run<PartKey>): Promise<Next> {
    const part = await this.clips.findPart(run.row.hauler_id, run.row.id);
    const connection = await this.connections.find(part.connectionId);
    if (connection === undefined) return this.end(run, part, 'failed', 'The connection was deleted.');
    if (part.isOverdue) {
      const reason = 'The partner had not accepted the request before the deadline.';
      return this.end(run, part, 'expired', withLastResponse(reason, part.reason));
    }
    if (part.submitAttempts >= MAX_SUBMITS) {
      const reason = `The request was sent ${part.submitAttempts} times without a response.`;
      return this.end(run, part, 'failed', reason);
    }
    // Counted before it is sent, because a process that is killed in between may have sent it.
    await run.update({ submit_attempts: part.submitAttempts + 1 });
    try {
      const { customerId, truckId, cameraId, startTime, endTime } = part;
      const request = { customerId, truckId, cameraId, startTime, endTime };
      const references = [{ kind: 'videoRequestId', value: part.requestId }] as const;
      // The deadline changes when an admin tries the part again, who wants another answer than the first.
      const idempotencyKey = `${part.id}.${part.deadlineAt.getTime()}`;
      const acknowledgement = await inCallContext({ references }, () =>
        this.client.requestVideo(request, { connection, signal: run.signal, idempotencyKey }),
      );
      return await this.acknowledged(run, part, connection, acknowledgement);
    } catch (error) {
      if (!(error instanceof PartnerFailure)) throw error;
      return this.failed(run, part, error);
    }
  }

  private async acknowledged(
    run: Run,
    part: Part,
    connection: VisionConnection,
    { status, message, requestId, refusal, findings }: Acknowledgement,
  ): Promise<Next> {
    const existing = hasLostAnswer(part) ? existingRequest(undefined, refusal) : undefined;
    if (existing !== undefined) await this.existing(run, part, existing);
    else if (status === 'failed') {
      const detail = message === undefined ? '' : `: ${message}`;
      await this.end(run, part, 'failed', `The partner refused the request${detail}`, {
        isAnswered: true,
        partnerRequestId: requestId,
      });
    } else await this.accepted(run, part, status, { requestId });
    // Last, because a failure here must not cause a second POST.
    await this.findings.record(connection, findings);
    return 'done';
  }

  /** The partner has taken an earlier POST whose answer was lost. Without its id, the clip is polled by its range. */
  private existing(run: Run, part: Part, { requestId }: ExistingRequest): Promise<void> {
    const reason = 'The partner has the request already: the answer to an earlier one was lost.';
    return this.accepted(run, part, 'processing', { requestId, reason });
  }

  private async accepted(
    run: Run,
    part: Part,
    status: 'processing' | 'ready',
    { requestId, reason }: { readonly requestId?: string | undefined; readonly reason?: string },
  ): Promise<void> {
    await this.clips.inTransaction(async (transaction) => {
      // A clip that is ready is polled at once.
      const delayMs = status === 'ready' ? 0 : withPollJitter(pollDelayMs({ polls: 0, openMs: 0 }), Math.random());
      // Locks are taken in the order of a poll round: the poll, then parts, then requests.
      const now = await this.clips.schedulePoll(transaction, part, delayMs);
      await this.clips.transition(transaction, part, status, reason ?? null, 'submitted');
      // After the transition, which clears `next_poll_at`: a clip that is ready has no link yet.
      const nextPollAt = new Date(now.getTime() + delayMs);
      const times = { submitted_at: now, polled_individually_at: now, next_poll_at: nextPollAt };
      await run.finish('done', { partner_request_id: requestId ?? null, ...times }, transaction);
    });
    if (status === 'ready') this.work.runDue(POLL_CLIPS);
  }

  /** Throws the failure where the part is sent again. */
  private async failed(run: Run, part: Part, failure: PartnerFailure): Promise<Next> {
    const { kind, status, body } = failure;
    const existing = kind === 'rejected' && hasLostAnswer(part) ? existingRequest(status, body) : undefined;
    if (existing !== undefined) {
      await this.existing(run, part, existing);
      return 'done';
    }
    const effect = submitFailure(failure, part.submitAttempts + 1);
    if (effect === 'final') {
      return this.end(run, part, 'failed', failure.message, { isAnswered: !mayBeTaken(failure) });
    }
    const attempts = effect === 'waiting' ? { submit_attempts: part.submitAttempts } : {};
    await run.update({ reason: failure.message, ...attempts });
    await this.clips.inTransaction(async (transaction) => {
      const text = `The request was not accepted, and is sent again: ${failure.message}`;
      await recordClipEvent(transaction, part, { kind: 'submitted', text });
      await this.clips.refreshRequest(transaction, part.haulerId, part.requestId);
    });
    throw retryByDeadline(part.deadlineAt, failure);
  }

  private async end(
    run: Run,
    part: Part,
    status: 'failed' | 'expired',
    reason: string,
    { isAnswered = false, partnerRequestId }: { isAnswered?: boolean; partnerRequestId?: string | undefined } = {},
  ): Promise<Next> {
    await this.clips.inTransaction(async (transaction) => {
      // An answered POST is no lost one, also for an admin's retry.
      const attempts = isAnswered ? { submit_attempts: part.submitAttempts } : {};
      await run.finish('done', { partner_request_id: partnerRequestId ?? null, ...attempts }, transaction);
      await this.clips.transition(transaction, part, status, reason, isAnswered ? 'submitted' : 'state');
    });
    return 'done';
  }
}

/** An earlier POST may have been taken: its answer was lost, or the process was killed before it came. */
const hasLostAnswer = ({ submitAttempts, mayBeTaken: isUncertain }: Part): boolean => submitAttempts > 0 || isUncertain;
