import { createReadStream } from 'node:fs';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { formatInstant, instantOf } from '../../contracts/common/instant.js';
import { MAX_CLIP_GAPS, type VideoStatus } from '../../contracts/vision/vision.dto.js';
import { isDatabaseUnavailable } from '../../database/postgres-errors.js';
import { inTransaction } from '../../database/transaction.js';
import { uuidv7 } from '../../database/uuid.js';
import type { Changes, Next, Run } from '../../work/run.js';
import { WorkService } from '../../work/work.service.js';
import { defineStates } from '../../work/states.js';
import { type Published, STORAGE, type Storage } from '../../storage/storage.js';
import { whileAnnounced } from '../../storage/storing-files.repository.js';
import { PartnerClock } from '../sandbox/partner-clock.js';
import type { ClipScenario } from '../sandbox/vision-scenarios.service.js';
import { insertClip, videoFileName } from './stored-videos.repository.js';
import { ClipCutter, type ClipFile } from './clip-cutter.js';
import type { Clip } from './media/cut-clip.js';
import { MediaError } from './media/stored-mp4.js';
import { MediaProcessError } from './media/media-process.js';

/** Decision 39. */
const VIDEO_REQUEST_STATES = defineStates('a video request', {
  processing: ['ready', 'failed'],
  ready: [],
  failed: [],
});

export const CLIP_WORK = 'reference clips';

/** Maximum number of left-out recordings that the message of a clip names. */
const MAX_REASONS = 10;

/** A video that crashes or blocks the process usually does so every time. */
const MAX_MEDIA_ATTEMPTS = 3;
/** About four hours with the backoff of the work, in which a storage may recover. */
const MAX_ATTEMPTS = 12;
const STORAGE_FAILED = 'The clip could not be prepared: its storage did not work.';

interface RequestRow {
  readonly id: string;
  readonly customer_id: string;
  readonly truck_id: string;
  readonly camera_id: string;
  readonly start_time: Date;
  readonly end_time: Date;
  readonly status: VideoStatus;
  readonly sandbox: ClipScenario | null;
}

/** Prepares the requested clips, two at a time in each instance (decisions 39, 44). */
@Injectable()
export class ClipPreparationJob implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly work: WorkService,
    private readonly cutter: ClipCutter,
    private readonly clock: PartnerClock,
    @Inject(STORAGE) private readonly storage: Storage,
  ) {}

  onModuleInit(): void {
    this.work.register<RequestRow>({
      name: CLIP_WORK,
      table: 'reference_video_requests',
      key: { id: 'uuid' },
      columns: ['customer_id', 'truck_id', 'camera_id', 'start_time', 'end_time', 'status', 'sandbox'],
      lane: { by: 'id', type: 'uuid', concurrency: 1 },
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
    try {
      await this.cutAndPublish(run);
    } catch (error) {
      const reason = run.signal.aborted ? undefined : finalReason(error, run.attempt);
      if (reason === undefined) throw error;
      await this.end(run, 'failed', sentence(reason));
    }
    return 'done';
  }

  private async cutAndPublish(run: Run<RequestRow>): Promise<void> {
    const { row, signal } = run;
    const range = {
      customerId: row.customer_id,
      truckId: row.sandbox?.sourceTruckId ?? row.truck_id,
      cameraId: row.camera_id,
      startTime: row.start_time,
      endTime: row.end_time,
    };
    await this.cutter.cut(range, signal, (clip, file) => this.publish(run, clip, file));
  }

  /** Stores the file first, then its row and the final state in one transaction, so that listed clips have their file. */
  private async publish(run: Run<RequestRow>, clip: Clip, file: ClipFile): Promise<void> {
    const id = uuidv7();
    await whileAnnounced(this.dataSource, videoFileName('clips', id), () => this.store(run, id, clip, file));
  }

  private async store(run: Run<RequestRow>, id: string, clip: Clip, file: ClipFile): Promise<void> {
    const bytes = 'path' in file ? createReadStream(file.path) : await this.storage.read(file.stored);
    const stored = await this.storage.store(videoFileName('clips', id), bytes, clip.sizeBytes);
    try {
      await this.insertClip(run, id, clip, stored);
    } catch (error) {
      // The commit may have succeeded, and a row must have its file. `storage check` reports a file without a row.
      if (!isDatabaseUnavailable(error)) await this.storage.delete(videoFileName('clips', id));
      throw error;
    }
  }

  private async insertClip(run: Run<RequestRow>, id: string, clip: Clip, { size, sha256 }: Published): Promise<void> {
    const { row } = run;
    await inTransaction(this.dataSource, async (manager) => {
      await run.hold(manager);
      const { startTime, endTime } = clip;
      const { id: requestId, customer_id: customerId, truck_id: truckId, camera_id: cameraId } = row;
      const gaps = gapsOf(clip);
      const stored = {
        id,
        requestId,
        customerId,
        truckId,
        cameraId,
        startTime,
        endTime,
        sizeBytes: size,
        sha256,
        gaps,
      };
      await insertClip(manager, stored);
      await this.end(run, 'ready', messageOf(clip), {}, manager);
    });
  }

  private async end(
    run: Run<RequestRow>,
    status: 'ready' | 'failed',
    message: string | null,
    set: Changes = {},
    manager?: EntityManager,
  ): Promise<void> {
    VIDEO_REQUEST_STATES.assertTransition(run.row.status, status);
    const finishedAt = new Date(await this.clock.now(run.row.customer_id, manager));
    await run.finish('done', { status, message, finished_at: finishedAt, ...set }, manager);
  }
}

/** The gaps within the clip, as JSON for the column. */
function gapsOf({ startTime, endTime, missing }: Clip): string | null {
  const gaps = missing.filter((gap) => gap.startTime > startTime && gap.endTime < endTime).slice(0, MAX_CLIP_GAPS);
  if (gaps.length === 0) return null;
  return JSON.stringify(gaps.map((gap) => ({ startTime: shown(gap.startTime), endTime: shown(gap.endTime) })));
}

/** The final reason of a failure, worded for the partner; undefined if a retry may succeed (decision 54). */
function finalReason(error: unknown, attempt: number): string | undefined {
  if (error instanceof MediaError) return error.message;
  if (!(error instanceof MediaProcessError) || attempt < MAX_MEDIA_ATTEMPTS) return undefined;
  return `${error.message}, ${attempt} times`;
}

/** Names the missing parts of a clip: a range recorded only in part still gives a clip (decision 44). */
function messageOf({ unrecorded, leftOut, soundFaults, uncut }: Clip): string | null {
  const gaps = unrecorded.map(({ startTime, endTime }) => `${shown(startTime)} to ${shown(endTime)}`);
  const others = leftOut.length - MAX_REASONS;
  const sentences = [
    ...(uncut === undefined ? [] : [`The clip is a whole recording: ${uncut.reason}.`]),
    ...(gaps.length === 0 ? [] : [`Nothing was recorded from ${gaps.join(', and from ')}.`]),
    ...leftOut.slice(0, MAX_REASONS).map((reason) => `A part was left out: ${reason}.`),
    ...(others > 0 ? [`${others} more recordings were left out.`] : []),
    ...soundFaults.map((fault) => `The sound was left out where ${fault}.`),
  ];
  return sentences.length === 0 ? null : sentences.join(' ');
}

const shown = (date: Date): string => formatInstant(instantOf(date));

const sentence = (message: string) => `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
