import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Next } from '../../jobs/due-rows.js';
import { JobsService } from '../../jobs/jobs.service.js';
import type { Run } from '../../jobs/run.js';
import { PartnerFailure } from '../../partner-client/partner-failure.js';
import { VisionConnections } from '../vision-connections.js';
import { notBeyond } from './not-beyond.js';
import { type Part, PartsStore } from './parts.store.js';
import { PollAsking } from './poll-asking.js';
import { PollOutcome, type PollRow, progressOf } from './poll-outcome.js';
import { goesAlong } from './poll-schedule.js';

export const POLL = 'vision poll';

/** Asks partners about open parts, all of one customer in one round (decision 41). */
@Injectable()
export class PollWork implements OnModuleInit {
  constructor(
    private readonly jobs: JobsService,
    private readonly parts: PartsStore,
    private readonly connections: VisionConnections,
    private readonly outcome: PollOutcome,
    private readonly asking: PollAsking,
  ) {}

  onModuleInit(): void {
    this.jobs.register<PollRow>({
      name: POLL,
      table: 'video_polls',
      key: { hauler_id: 'uuid', connection_id: 'uuid', customer_id: 'text' },
      columns: ['next_page'],
      concurrency: 4,
      backoff: { firstMs: 5_000, factor: 2, maxMs: 60_000, jitter: 0.2 },
      run: (run) => this.round(run),
    });
  }

  private async round(run: Run<PollRow>): Promise<Next> {
    const { open: waitingParts, now } = await this.parts.open(run.row);
    const open = await this.outcome.endOverdue(run, waitingParts, now);
    const connection = await this.connections.find(run.row.connection_id);
    if (connection === undefined) {
      for (const part of open) await this.outcome.end(run, part, 'failed', 'The connection was deleted.');
      return this.outcome.finish(run, {});
    }
    const inMs = ({ nextPollAt }: Part) => (nextPollAt?.getTime() ?? 0) - now.getTime();
    if (!open.some((part) => inMs(part) <= 0)) return this.outcome.finish(run, {});
    const asked = open.filter((part) => goesAlong(inMs(part), progressOf(part, now)));
    const asking = { connection, signal: run.signal, page: run.row.next_page, now };
    const round = await this.asking.ask(asked, asking).catch((error: unknown) => {
      throw error instanceof PartnerFailure ? notBeyond(firstDeadline(open), error) : error;
    });
    const waiting: Part[] = [];
    for (const part of asked) {
      if (!(await this.outcome.apply(run, part, round.learnt.get(part) ?? { kind: 'open' }))) waiting.push(part);
    }
    await this.outcome.postpone(run, waiting, { ...round, now });
    return this.outcome.finish(run, { next_page: round.nextPage });
  }
}

const firstDeadline = (open: readonly Part[]): Date =>
  new Date(Math.min(...open.map(({ deadlineAt }) => deadlineAt.getTime())));
