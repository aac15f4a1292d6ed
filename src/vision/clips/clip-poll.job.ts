import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Sql } from '../../core/database/sql.js';
import { WorkService } from '../../core/work/work.service.js';
import type { Next, Run } from '../../core/work/run.js';
import { VisionFindings } from '../client/findings.repository.js';
import { DOWNLOAD, POLL_CLIPS, VisionConnections } from '../client/vision-connections.repository.js';
import { RecordingsRepository } from '../recordings/recordings.repository.js';
import { tooManyClips } from './clip-matching.rules.js';
import { ClipPollClient } from './clip-poll.client.js';
import {
  type ClipsResult,
  joinsBatchPoll,
  MAX_NOT_FOUND,
  pollDelayMs,
  type PolledPart,
  type PollResult,
  progressOf,
  retryByDeadline,
  withLastResponse,
  withPollJitter,
} from './clip-poll.rules.js';
import { ClipsRepository, type Customer, type Part, recordClipEvent } from './clips.repository.js';

interface PollRow extends Customer {
  /** The failure of the last round, which may concern the whole partner. */
  readonly last_error: string | null;
}

/**
 * Polls partners for open parts, all parts of one customer in one round (decision 41). It recurs without a cap, because the
 * deadline of each part ends that part. Every write happens while the poll's row is locked, so that an instance that lost
 * the row writes nothing.
 */
@Injectable()
export class ClipPollJob implements OnModuleInit {
  constructor(
    private readonly work: WorkService,
    private readonly clips: ClipsRepository,
    private readonly recordings: RecordingsRepository,
    private readonly connections: VisionConnections,
    private readonly findings: VisionFindings,
    private readonly partner: ClipPollClient,
  ) {}

  onModuleInit(): void {
    this.work.register<PollRow>({
      name: POLL_CLIPS,
      table: 'video_polls',
      key: { hauler_id: 'uuid', connection_id: 'uuid', customer_id: 'text' },
      callsPartners: true,
      lane: { by: 'connection_id', concurrency: 2 },
      backoff: { firstMs: 5_000, factor: 2, maxMs: 60_000, jitter: 0.2 },
      run: (run) => this.round(run),
    });
  }

  private async round(run: Run<PollRow>): Promise<Next> {
    const { parts, now } = await this.clips.openParts(run.row);
    const open = await this.expireOverdue(run, parts);
    const connection = await this.connections.find(run.row.connection_id);
    if (connection === undefined) {
      for (const part of open) await this.end(run, part, 'failed', 'The connection was deleted.');
      return this.finish(run);
    }
    const dueInMs = ({ nextPollAt }: Part) => (nextPollAt?.getTime() ?? 0) - now.getTime();
    if (!open.some((part) => dueInMs(part) <= 0)) return this.finish(run);
    const joining = open.filter((part) => joinsBatchPoll(dueInMs(part), progressOf(part, now)));
    const round = await this.partner.poll(joining, { connection, signal: run.signal, now });
    const ended = new Set<Part>();
    for (const { part, result } of round.polled) {
      if (!ended.has(part) && (await this.apply(run, part, result))) ended.add(part);
    }
    await this.scheduleNext(
      run,
      round.polled.filter(({ part }) => !ended.has(part)),
      now,
    );
    const waiting = open.filter((part) => !ended.has(part));
    if (round.failure === undefined || waiting.length === 0) return this.finish(run);
    const firstDeadline = new Date(Math.min(...waiting.map(({ deadlineAt }) => deadlineAt.getTime())));
    const scheduledMs = Math.min(...waiting.map((part) => pollDelayMs(progressOf(part, now))));
    throw retryByDeadline(firstDeadline, round.failure.onSchedule(scheduledMs));
  }

  /** Ends the overdue parts, and returns the other parts. */
  private async expireOverdue(run: Run<PollRow>, open: readonly Part[]): Promise<Part[]> {
    for (const part of open.filter(({ isOverdue }) => isOverdue)) {
      const video = part.hasClips ? 'the whole video' : 'the video';
      const reason = `The partner had not delivered ${video} before the deadline, after ${part.polls} polls.`;
      await this.end(run, part, 'expired', withLastResponse(reason, part.reason ?? run.row.last_error));
    }
    return open.filter(({ isOverdue }) => !isOverdue);
  }

  /** Returns whether the part needs no further poll. */
  private async apply(run: Run<PollRow>, part: Part, result: PollResult): Promise<boolean> {
    switch (result.kind) {
      case 'open':
        return false;
      case 'unknown': {
        if (part.notFound + 1 < MAX_NOT_FOUND) return false;
        await this.end(run, part, 'failed', `${result.reason} (${MAX_NOT_FOUND} times in a row)`, 'poll');
        return true;
      }
      case 'failed': {
        const detail = result.reason === undefined ? ' and gave no reason.' : `: ${result.reason}`;
        await this.end(run, part, 'failed', `The partner could not prepare the video${detail}`, 'poll');
        return true;
      }
      case 'some':
      case 'clips':
        await this.addClips(run, part, result);
        return result.kind === 'clips';
    }
  }

  private async addClips(run: Run<PollRow>, part: Part, { kind, clips, reason }: ClipsResult): Promise<void> {
    const isWithinLimit = await this.write(run, async (transaction) => {
      const result = await this.recordings.addClips(transaction, part, clips);
      if (result.added > 0) {
        const text = `The partner listed ${result.added} new ${result.added === 1 ? 'clip' : 'clips'}.`;
        await recordClipEvent(transaction, part, { kind: 'poll', text });
      }
      if (kind === 'clips') {
        await this.clips.transition(transaction, part, 'ready', reason ?? null, 'poll');
        // Clips from earlier rounds may all be stored by now.
        if (part.hasClips) await this.clips.updatePartFromClips(transaction, part.haulerId, part.id);
      }
      return result.isWithinLimit;
    });
    this.work.runDue(DOWNLOAD);
    // Each list alone may be within the limit.
    if (!isWithinLimit) {
      await this.findings.record({ haulerId: part.haulerId, id: part.connectionId }, [tooManyClips(part)]);
    }
  }

  /** The reason that a poll by the part's own id returned stays until the next such poll. */
  private async scheduleNext(run: Run<PollRow>, polled: readonly PolledPart[], now: Date): Promise<void> {
    if (polled.length === 0) return;
    const random = Math.random();
    // A part that the list has may be polled by its own id after that.
    const last = new Map(polled.map((each) => [each.part, each])).values();
    const next = [...last].map(({ part, result, isIndividual }) => ({
      part,
      delayMs: withPollJitter(pollDelayMs({ ...progressOf(part, now), polls: part.polls + 1 }), random),
      isUnknown: result.kind === 'unknown',
      isIndividual,
      reason: isIndividual ? (result.reason ?? null) : part.reason,
    }));
    await this.write(run, (transaction) => this.clips.scheduleParts(transaction, run.row.hauler_id, next));
  }

  /** Makes the poll due when the next open part is due or reaches its deadline. */
  private async finish(run: Run<PollRow>): Promise<Next> {
    await this.write(run, async (transaction) => {
      const at = await this.clips.nextPollAt(transaction, run.row);
      await run.finish(at === null ? 'done' : { at }, {}, transaction);
    });
    return 'done';
  }

  private end(
    run: Run<PollRow>,
    part: Part,
    status: 'failed' | 'expired',
    reason: string,
    kind?: 'poll',
  ): Promise<void> {
    return this.write(run, (transaction) => this.clips.transition(transaction, part, status, reason, kind));
  }

  private write<T>(run: Run<PollRow>, work: (transaction: Sql) => Promise<T>): Promise<T> {
    return this.clips.inTransaction(async (transaction) => {
      await run.hold(transaction);
      return work(transaction);
    });
  }
}
