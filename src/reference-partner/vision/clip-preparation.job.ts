import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { ENV, type ResolvedEnv } from '../../core/config/env.js';
import type { VideoStatus } from '../../contracts/vision/vision.api.js';
import { Database } from '../../core/database/database.js';
import { isDatabaseUnavailable } from '../../core/database/postgres-errors.js';
import type { Sql } from '../../core/database/sql.js';
import { uuidv7 } from '../../core/database/uuid.js';
import type { Changes, Next, Run } from '../../core/work/run.js';
import { WorkService } from '../../core/work/work.service.js';
import { defineStates } from '../../core/work/states.js';
import { STORAGE, type Storage } from '../../core/storage/storage.js';
import { whileAnnounced } from '../../core/storage/inventory.repository.js';
import { PartnerClock } from '../sandbox/partner-clock.js';
import type { ClipScenario } from '../sandbox/vision-scenarios.service.js';
import { type ListedWhole, messageOf } from './clip.rules.js';
import { trimInProcess, UntrimmedError } from './media/trim-process.js';
import {
  type ClipRequest,
  insertClips,
  type NewClip,
  recordingsOf,
  videoFileName,
  type VideoRow,
} from './stored-videos.repository.js';

/** Decision 39. */
const VIDEO_REQUEST_STATES = defineStates('a video request', {
  processing: ['ready', 'failed'],
  ready: [],
  failed: [],
});

export const CLIP_WORK = 'reference clips';

/** About four hours with the backoff of the work, in which a storage may recover. */
const MAX_ATTEMPTS = 12;
const NOTHING_RECORDED = 'Nothing was recorded in this time.';
const STORAGE_FAILED = 'The clip could not be prepared: its storage did not work.';

interface RequestRow extends ClipRequest {
  readonly status: VideoStatus;
  readonly sandbox: ClipScenario | null;
}

/** Prepares the requested clips, two at a time in each instance (decisions 39, 44). */
@Injectable()
export class ClipPreparationJob implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly work: WorkService,
    private readonly clock: PartnerClock,
    @Inject(STORAGE) private readonly storage: Storage,
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'STORAGE_URL'>,
  ) {}

  onModuleInit(): void {
    this.work.register<RequestRow>({
      name: CLIP_WORK,
      table: 'reference_video_requests',
      key: { id: 'uuid' },
      lane: { by: 'id', concurrency: 1 },
      lanes: 2,
      attempts: {
        max: MAX_ATTEMPTS,
        // The reason may name folders and servers: partners see the message, admins see `last_error`.
        giveUp: (run, reason) => this.end(run, 'failed', STORAGE_FAILED, { last_error: reason, attempts: run.attempt }),
      },
      run: (run) => this.prepare(run),
    });
  }

  private async prepare(run: Run<RequestRow>): Promise<Next> {
    if (VIDEO_REQUEST_STATES.isFinal(run.row.status)) return 'done';
    const { name, reason = '' } = run.row.sandbox ?? {};
    if (name === 'failed-clip') {
      await this.end(run, 'failed', reason);
      return 'done';
    }
    // Until the rows are written a repair of the storage takes no file for one without a row.
    await whileAnnounced(this.database, undefined, () => this.prepareClips(run));
    return 'done';
  }

  /** Stores the files first, then their rows and the final state in one transaction, so that listed clips have their files. */
  private async prepareClips(run: Run<RequestRow>): Promise<void> {
    const { row } = run;
    const range = { startTime: row.start_time, endTime: row.end_time };
    const source = { ...row, truck_id: row.sandbox?.sourceTruckId ?? row.truck_id };
    const recordings = await recordingsOf(this.database, source);
    const clips: NewClip[] = [];
    const whole: ListedWhole[] = [];
    try {
      for (const recording of recordings) await this.addClip(run, recording, clips, whole);
      if (clips.length === 0) return await this.end(run, 'failed', NOTHING_RECORDED);
      clips.sort((a, b) => a.startTime.getTime() - b.startTime.getTime());
      await this.database.transaction(async (transaction) => {
        await run.hold(transaction);
        await insertClips(transaction, row, clips);
        await this.end(run, 'ready', messageOf(range, clips, whole), {}, transaction);
      });
    } catch (error) {
      // The commit may have succeeded, and a row must have its file. `storage check` reports a file without a row.
      if (!isDatabaseUnavailable(error)) await this.deleteFiles(clips);
      throw error;
    }
  }

  /** A recording within the range is listed as it is, one at an end of the range is trimmed (decision 44). */
  private async addClip(
    run: Run<RequestRow>,
    recording: VideoRow,
    clips: NewClip[],
    whole: ListedWhole[],
  ): Promise<void> {
    const { start_time: startTime, end_time: endTime, size_bytes: sizeBytes, sha256 } = recording;
    if (startTime < run.row.start_time || endTime > run.row.end_time) {
      try {
        clips.push(await this.trim(run, recording));
        return;
      } catch (error) {
        if (!(error instanceof UntrimmedError)) throw error;
        if (error.reason === 'nothing') return;
        whole.push({ startTime, reason: error.reason });
      }
    }
    clips.push({ id: uuidv7(), recordingId: recording.id, startTime, endTime, sizeBytes, sha256 });
  }

  private async trim({ row, signal }: Run<RequestRow>, recording: VideoRow): Promise<NewClip> {
    const { id: recordingId, start_time: startTime, end_time: endTime, size_bytes: sizeBytes } = recording;
    const start = startTime.getTime();
    const wanted = {
      from: Math.max(0, row.start_time.getTime() - start) / 1000,
      to: (Math.min(endTime.getTime(), row.end_time.getTime()) - start) / 1000,
    };
    const name = videoFileName('recordings', recordingId);
    const id = uuidv7();
    const task = { storageUrl: this.env.STORAGE_URL, name, sizeBytes, part: wanted };
    const { part, stored } = await trimInProcess(task, signal, (bytes) =>
      this.storage.store(videoFileName('clips', id), bytes),
    );
    return {
      id,
      recordingId: null,
      startTime: new Date(Math.round(start + part.from * 1000)),
      endTime: new Date(Math.round(start + part.to * 1000)),
      sizeBytes: stored.size,
      sha256: stored.sha256,
    };
  }

  private async deleteFiles(clips: readonly NewClip[]): Promise<void> {
    for (const { id, recordingId } of clips) {
      if (recordingId === null) await this.storage.delete(videoFileName('clips', id));
    }
  }

  private async end(
    run: Run<RequestRow>,
    status: 'ready' | 'failed',
    message: string | null,
    set: Changes = {},
    transaction?: Sql,
  ): Promise<void> {
    VIDEO_REQUEST_STATES.assertTransition(run.row.status, status);
    const finishedAt = new Date(await this.clock.now(run.row.customer_id, transaction));
    await run.finish('done', { status, message, finished_at: finishedAt, ...set }, transaction);
  }
}
