import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Next } from '../../jobs/due-rows.js';
import { JobsService } from '../../jobs/jobs.service.js';
import type { Run } from '../../jobs/run.js';
import { PartnerFailure } from '../../partner-client/partner-failure.js';
import { VisionConnections } from '../vision-connections.js';
import { VisionClient } from '../vision.client.js';
import { PartsStore } from './parts.store.js';
import { withLast } from './deadline.js';
import { SubmitOutcome } from './submit-outcome.js';
import { MOST_SUBMITS } from './submit-rules.js';

export const SUBMIT = 'vision submit';

interface PartKey {
  readonly hauler_id: string;
  readonly id: string;
}

/** Sends each part to its partner: one POST, whose tries are counted in the row before it is sent. */
@Injectable()
export class SubmitWork implements OnModuleInit {
  constructor(
    private readonly jobs: JobsService,
    private readonly parts: PartsStore,
    private readonly connections: VisionConnections,
    private readonly client: VisionClient,
    private readonly outcome: SubmitOutcome,
  ) {}

  onModuleInit(): void {
    this.jobs.register<PartKey>({
      name: SUBMIT,
      table: 'video_request_parts',
      key: { hauler_id: 'uuid', id: 'uuid' },
      where: "status = 'submitting'",
      group: { by: 'connection_id', concurrency: 8 },
      concurrency: 32,
      backoff: { firstMs: 1_000, factor: 3, maxMs: 60_000, jitter: 0.2 },
      run: (run) => this.submit(run),
    });
  }

  private async submit(run: Run<PartKey>): Promise<Next> {
    const part = await this.parts.find(run.row.hauler_id, run.row.id);
    const connection = await this.connections.find(part.connectionId);
    if (connection === undefined) return this.outcome.end(run, part, 'failed', 'The connection was deleted.');
    if (part.overdue) {
      const reason = 'The partner had not taken the request when its deadline came.';
      return this.outcome.end(run, part, 'expired', withLast(reason, part.reason));
    }
    if (part.submitTries >= MOST_SUBMITS) {
      const reason = `The request was sent ${part.submitTries} times, and no answer came back.`;
      return this.outcome.end(run, part, 'failed', reason);
    }
    // Counted before it is sent: a process that is killed meanwhile has sent it as well.
    await run.update({ submit_tries: part.submitTries + 1 });
    try {
      const { customerId, truckId, cameraId, startTime, endTime } = part;
      const request = { customerId, truckId, cameraId, startTime, endTime };
      const read = await this.client.requestVideo(request, { connection, signal: run.signal });
      return await this.outcome.accepted(run, part, connection, read);
    } catch (error) {
      if (!(error instanceof PartnerFailure)) throw error;
      return this.outcome.failed(run, part, error);
    }
  }
}
