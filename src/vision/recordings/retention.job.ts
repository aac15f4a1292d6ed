import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { DataSource, type EntityManager } from 'typeorm';
import { ENV, type ResolvedEnv } from '../../config/env.js';
import type { RetentionResult } from '../../contracts/admin/storage.dto.js';
import { isDatabaseUnavailable } from '../../database/postgres-errors.js';
import { inTransaction } from '../../database/transaction.js';
import { inBackground } from '../../errors/background.js';
import { Metrics } from '../../observability/metrics.js';
import { STORAGE, type Storage } from '../../storage/storage.js';
import { lockRemoval } from '../holds/holds.repository.js';
import { deleteOldHours } from './recording-list.repository.js';
import { recordingFile } from './recording.rules.js';
import {
  countStoredBefore,
  findStoredBefore,
  markDeleted,
  type OldRecording,
  recordDefault,
  shortestRetention,
} from './retention.repository.js';

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
 * Deletes the files of recordings that are older than the retention of their hauler, but none that a hold keeps. The row
 * stays, with the reason. The file is deleted before the commit, so that a process that is killed in between finds the row
 * again. Where the holds cannot be asked, nothing is deleted.
 */
@Injectable()
export class Retention implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Retention');
  private isStopping = false;
  private updateRequest: UpdateRequest = () => Promise.resolve();
  private failed: { readonly since: Date; readonly message: string } | undefined;

  constructor(
    private readonly dataSource: DataSource,
    @Inject(STORAGE) private readonly storage: Storage,
    @Inject(ENV) private readonly env: ResolvedEnv,
    private readonly metrics: Metrics,
  ) {}

  /** The clips provide the video requests. */
  useClips(update: UpdateRequest): void {
    this.updateRequest = update;
  }

  /** Since when and why runs of this instance fail; undefined after one that succeeded. */
  get trouble(): { readonly since: Date; readonly message: string } | undefined {
    return this.failed;
  }

  onApplicationBootstrap(): void {
    inBackground(this.recordDefault());
  }

  @Interval('video retention', INTERVAL_MS)
  async hourly(): Promise<void> {
    await deleteOldHours(this.dataSource);
    await this.run();
  }

  onModuleDestroy(): void {
    this.isStopping = true;
  }

  /** With `dryRun` it only counts the files to delete. */
  async run({ dryRun = false } = {}): Promise<RetentionResult> {
    try {
      const result = await this.runOnce(dryRun);
      if (!dryRun) this.failed = undefined;
      return result;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.failed = { since: this.failed?.since ?? new Date(), message };
      this.metrics.retentionFailures.inc();
      this.logger.error({ err: error }, 'stored video could not be deleted by age');
      throw error;
    }
  }

  private async runOnce(dryRun: boolean): Promise<RetentionResult> {
    await this.recordDefault();
    const days = await shortestRetention(this.dataSource);
    if (days === null) return { recordings: 0, bytes: 0 };
    const before = new Date(Date.now() - days * 86_400_000);
    const found = { before: before.toISOString() };
    if (dryRun) return { ...(await countStoredBefore(this.dataSource, before)), ...found };
    return { ...(await this.removeOld(before)), ...found };
  }

  private async removeOld(before: Date): Promise<Pick<RetentionResult, 'recordings' | 'bytes'>> {
    let recordings = 0;
    let bytes = 0;
    let failures = 0;
    let failure: Error | undefined;
    let last: OldRecording | undefined;
    const next = () => findStoredBefore(this.dataSource, before, last, BATCH);
    for (let batch = await next(); batch.length > 0; batch = await next()) {
      last = batch.at(-1);
      for (const row of batch.filter(({ is_due }) => is_due)) {
        if (this.isStopping) return { recordings, bytes };
        try {
          if (!(await this.remove(row))) continue;
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
    return { recordings, bytes };
  }

  /** Returns false if it is kept after all. */
  private async remove(row: OldRecording): Promise<boolean> {
    const reason = `The file was deleted ${row.days} days after it was stored, by the retention of its hauler. Request a clip of this range to get it again.`;
    return inTransaction(this.dataSource, async (manager) => {
      const { hauler_id: haulerId, id: recordingId, part_id: partId } = row;
      await lockRemoval(manager);
      if (!(await markDeleted(manager, row, reason))) return false;
      if (partId !== null) await this.updateRequest(manager, { haulerId, partId, recordingId, reason });
      await this.storage.delete(recordingFile(recordingId));
      return true;
    });
  }

  private recordDefault(): Promise<void> {
    const days = this.env.VIDEO_RETENTION_DAYS;
    return inTransaction(this.dataSource, (manager) => recordDefault(manager, days === 0 ? null : days));
  }
}
