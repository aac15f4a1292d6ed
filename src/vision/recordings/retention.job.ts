import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { DataSource, type EntityManager } from 'typeorm';
import { ENV, type ResolvedEnv } from '../../config/env.js';
import type { RetentionResult } from '../../contracts/admin/storage.dto.js';
import { isDatabaseUnavailable } from '../../database/postgres-errors.js';
import { inTransaction } from '../../database/transaction.js';
import { STORAGE, type Storage } from '../../storage/storage.js';
import { recordingFile } from './recording.rules.js';
import { countStoredBefore, findStoredBefore, markDeleted, type OldRecording } from './retention.repository.js';

const INTERVAL_MS = 3_600_000;
const BATCH = 500;

/** A check of the storage writes a file. */
const FAILURES_PER_CHECK = 100;

/** A clip of a video request whose file was deleted. */
export interface RemovedClip {
  readonly haulerId: string;
  readonly partId: string;
  readonly recordingId: string;
  readonly reason: string;
}

/** Changes the video request in the transaction of the recording. */
type UpdateRequest = (manager: EntityManager, clip: RemovedClip) => Promise<void>;

/**
 * Deletes the files of recordings that were stored more than `VIDEO_RETENTION_DAYS` ago (0: never). The row stays, with the
 * reason. The file is deleted first, so that a process that is killed in between finds the row again.
 */
@Injectable()
export class Retention implements OnModuleDestroy {
  private isStopping = false;
  private updateRequest: UpdateRequest = () => Promise.resolve();

  constructor(
    private readonly dataSource: DataSource,
    @Inject(STORAGE) private readonly storage: Storage,
    @Inject(ENV) private readonly env: ResolvedEnv,
  ) {}

  /** The clips provide the video requests. */
  useClips(update: UpdateRequest): void {
    this.updateRequest = update;
  }

  @Interval('video retention', INTERVAL_MS)
  async hourly(): Promise<void> {
    await this.run();
  }

  onModuleDestroy(): void {
    this.isStopping = true;
  }

  /** With `dryRun` it only counts the files to delete. */
  async run({ dryRun = false } = {}): Promise<RetentionResult> {
    const days = this.env.VIDEO_RETENTION_DAYS;
    if (days === 0) return { recordings: 0, bytes: 0 };
    const before = new Date(Date.now() - days * 86_400_000);
    if (dryRun) return { ...(await countStoredBefore(this.dataSource, before)), before: before.toISOString() };
    let recordings = 0;
    let bytes = 0;
    let failures = 0;
    let failure: Error | undefined;
    let last: OldRecording | undefined;
    const next = () => findStoredBefore(this.dataSource, before, last, BATCH);
    for (let batch = await next(); batch.length > 0; batch = await next()) {
      last = batch.at(-1);
      for (const row of batch) {
        if (this.isStopping) return { recordings, bytes, before: before.toISOString() };
        try {
          await this.remove(row, days);
          recordings += 1;
          bytes += Number(row.size_bytes);
        } catch (error) {
          // A file that cannot be deleted must not keep all younger ones. A storage that is not available would fail each.
          if (isDatabaseUnavailable(error)) throw error;
          if (failures++ % FAILURES_PER_CHECK === 0 && !(await this.storage.check()).writable) throw error;
          failure ??= error as Error;
        }
      }
    }
    if (failure !== undefined) throw failure;
    return { recordings, bytes, before: before.toISOString() };
  }

  private async remove(row: OldRecording, days: number): Promise<void> {
    await this.storage.delete(recordingFile(row.id));
    const reason = `The file was deleted ${days} days after it was stored (VIDEO_RETENTION_DAYS). Request a clip of this range to get it again.`;
    await inTransaction(this.dataSource, async (manager) => {
      const { hauler_id: haulerId, id: recordingId, part_id: partId } = row;
      if ((await markDeleted(manager, row, reason)) && partId !== null)
        await this.updateRequest(manager, { haulerId, partId, recordingId, reason });
    });
  }
}
