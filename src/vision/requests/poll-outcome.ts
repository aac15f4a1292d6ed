import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { inTransaction } from '../../database/transaction.js';
import type { Changes, Next } from '../../jobs/due-rows.js';
import { JobsService } from '../../jobs/jobs.service.js';
import type { Run } from '../../jobs/run.js';
import { DOWNLOADS } from '../downloads/recording-row.js';
import { RecordingStore } from '../downloads/recording.store.js';
import { VisionFindings } from '../findings.js';
import { tooMany } from './match-video.js';
import { type Customer, type Part, PartsStore } from './parts.store.js';
import { type Learnt, type LearntClips, progressOf, type Round } from './poll-round.js';
import { jittered, MOST_NOT_FOUND, pollDelayMs } from './poll-schedule.js';
import { withLast } from './deadline.js';

/** The poll of one customer. */
export interface PollRow extends Customer {
  readonly next_page: number;
  /** What the last round failed with, as where the partner refuses our key: that is nothing of one part alone. */
  readonly last_error: string | null;
}

/** Writes what a round has brought. Every write happens only while the round's row is held. */
@Injectable()
export class PollOutcome {
  constructor(
    private readonly dataSource: DataSource,
    private readonly parts: PartsStore,
    private readonly recordings: RecordingStore,
    private readonly findings: VisionFindings,
    private readonly jobs: JobsService,
  ) {}

  /** The parts whose deadline has not come. */
  async endOverdue(run: Run<PollRow>, open: readonly Part[]): Promise<Part[]> {
    for (const part of open.filter(({ overdue }) => overdue)) {
      const video = part.hasClips ? 'the whole video' : 'the video';
      const reason = `The partner had not delivered ${video} when the deadline came, asked ${part.polls} times.`;
      await this.end(run, part, 'expired', withLast(reason, part.reason ?? run.row.last_error));
    }
    return open.filter(({ overdue }) => !overdue);
  }

  async end(run: Run<PollRow>, part: Part, status: 'failed' | 'expired', reason: string): Promise<void> {
    await this.write(run, (manager) => this.parts.move(manager, part, status, reason));
  }

  /** Whether the part waits no longer. */
  async apply(run: Run<PollRow>, part: Part, learnt: Learnt): Promise<boolean> {
    switch (learnt.kind) {
      case 'open':
        return false;
      case 'unknown': {
        if (part.notFound + 1 < MOST_NOT_FOUND) return false;
        await this.end(run, part, 'failed', `${learnt.reason} (${MOST_NOT_FOUND} times running)`);
        return true;
      }
      case 'failed': {
        const said = learnt.reason === undefined ? ' without saying why.' : `: ${learnt.reason}`;
        await this.end(run, part, 'failed', `The partner could not prepare the video${said}`);
        return true;
      }
      case 'some':
      case 'clips':
        await this.takeClips(run, part, learnt);
        return learnt.kind === 'clips';
    }
  }

  /**
   * One jitter for all: those who were asked about together stay together. The reason that a question by a part's own
   * id has brought stays until it is asked so again.
   */
  async postpone(
    run: Run<PollRow>,
    waiting: readonly Part[],
    { learnt, alone, now }: Round & { readonly now: Date },
  ): Promise<void> {
    if (waiting.length === 0) return;
    const random = Math.random();
    const next = waiting.map((part) =>
      jittered(pollDelayMs({ ...progressOf(part, now), asked: part.polls + 1 }), random),
    );
    const reasons = waiting.map((part) => (alone.has(part) ? (learnt.get(part)?.reason ?? null) : part.reason));
    await this.write(run, async (manager) => {
      await manager.query(
        `UPDATE video_request_parts AS part SET polls = part.polls + 1,
           next_poll_at = now() + asked.delay * interval '1 ms',
           not_found = CASE WHEN asked.unknown THEN part.not_found + 1 ELSE 0 END,
           asked_alone_at = CASE WHEN asked.alone THEN now() ELSE part.asked_alone_at END,
           reason = asked.reason
         FROM unnest($2::uuid[], $3::float8[], $4::boolean[], $5::boolean[], $6::text[])
           AS asked (id, delay, unknown, alone, reason)
         WHERE part.hauler_id = $1 AND part.id = asked.id`,
        [
          run.row.hauler_id,
          waiting.map(({ id }) => id),
          next,
          waiting.map((part) => learnt.get(part)?.kind === 'unknown'),
          waiting.map((part) => alone.has(part)),
          reasons,
        ],
      );
      const changed = waiting.filter(({ reason }, i) => reason !== reasons[i]);
      for (const id of new Set(changed.map(({ requestId }) => requestId))) {
        await this.parts.refresh(manager, run.row.hauler_id, id);
      }
    });
  }

  /**
   * Due when the first open part is next to be asked about or ends. `wakePoll` locks this row, so a part submitted meanwhile
   * is either seen here or makes the poll due afterwards.
   */
  async finish(run: Run<PollRow>, set: Changes): Promise<Next> {
    await this.write(run, async (manager) => {
      const { connection_id, customer_id, hauler_id } = run.row;
      const [next] = await manager.query<{ at: Date | null }[]>(
        `SELECT least(min(next_poll_at), min(deadline_at)) AS at FROM video_request_parts
         WHERE connection_id = $1 AND customer_id = $2 AND hauler_id = $3 AND next_poll_at IS NOT NULL`,
        [connection_id, customer_id, hauler_id],
      );
      await run.finish(next?.at == null ? 'done' : { at: next.at }, set, manager);
    });
    return 'done';
  }

  private async takeClips(run: Run<PollRow>, part: Part, { kind, clips, reason }: LearntClips): Promise<void> {
    const haveRoom = await this.write(run, async (manager) => {
      const added = await this.recordings.addClips(manager, part, clips);
      if (kind === 'clips') {
        await this.parts.move(manager, part, 'ready', reason ?? null);
        // Of clips that came while it was prepared all may be stored by now.
        if (part.hasClips) await this.parts.settle(manager, part.haulerId, part.id);
      }
      return added;
    });
    this.jobs.wake(DOWNLOADS);
    // Each listing alone may have had no more than are fetched.
    if (!haveRoom) await this.findings.record({ haulerId: part.haulerId, id: part.connectionId }, [tooMany(part)]);
  }

  private async write<T>(run: Run<PollRow>, work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return inTransaction(this.dataSource, async (manager) => {
      await run.hold(manager);
      return work(manager);
    });
  }
}
