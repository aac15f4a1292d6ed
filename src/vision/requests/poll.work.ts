import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Next } from '../../jobs/due-rows.js';
import { JobsService } from '../../jobs/jobs.service.js';
import type { Run } from '../../jobs/run.js';
import { VisionConnections } from '../vision-connections.js';
import { notBeyond } from './deadline.js';
import { type Part, PartsStore } from './parts.store.js';
import { PollAsking } from './poll-asking.js';
import { PollOutcome, type PollRow } from './poll-outcome.js';
import { progressOf } from './poll-round.js';
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
      columns: ['next_page', 'last_error'],
      group: { by: 'connection_id', concurrency: 2 },
      concurrency: 8,
      backoff: { firstMs: 5_000, factor: 2, maxMs: 60_000, jitter: 0.2 },
      run: (run) => this.round(run),
    });
  }

  private async round(run: Run<PollRow>): Promise<Next> {
    const { open: waitingParts, now } = await this.parts.open(run.row);
    const open = await this.outcome.endOverdue(run, waitingParts);
    const connection = await this.connections.find(run.row.connection_id);
    if (connection === undefined) {
      for (const part of open) await this.outcome.end(run, part, 'failed', 'The connection was deleted.');
      return this.outcome.finish(run, {});
    }
    const inMs = ({ nextPollAt }: Part) => (nextPollAt?.getTime() ?? 0) - now.getTime();
    if (!open.some((part) => inMs(part) <= 0)) return this.outcome.finish(run, {});
    const along = open.filter((part) => goesAlong(inMs(part), progressOf(part, now)));
    const question = { connection, signal: run.signal, page: run.row.next_page, now, again: run.attempt > 1 };
    const round = await this.asking.ask(along, question);
    const ended = new Set<Part>();
    for (const [part, learnt] of round.learnt) if (await this.outcome.apply(run, part, learnt)) ended.add(part);
    await this.outcome.postpone(
      run,
      [...round.asked].filter((part) => !ended.has(part)),
      { ...round, now },
    );
    const left = open.filter((part) => !ended.has(part));
    if (round.failure === undefined || left.length === 0) {
      return this.outcome.finish(run, { next_page: round.nextPage });
    }
    await run.update({ next_page: round.nextPage });
    throw notBeyond(firstDeadline(left), round.failure);
  }
}

const firstDeadline = (open: readonly Part[]): Date =>
  new Date(Math.min(...open.map(({ deadlineAt }) => deadlineAt.getTime())));
