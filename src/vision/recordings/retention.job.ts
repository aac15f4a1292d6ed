import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
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
import { OldMonths } from './old-months.js';
import { deleteOldHours } from './recording-list.repository.js';
import { recordingFile } from './recording.rules.js';
import {
  countStoredBefore,
  findStoredBefore,
  lockRemovable,
  markDeleted,
  type OldRecording,
  recordDefault,
  shortestRetention,
} from './retention.repository.js';

const INTERVAL_MS = 3_600_000;

/** What S3 deletes in one call. A process that is killed leaves so many rows without their files, until the next run. */
const BATCH = 1_000;

type Removed = Pick<RetentionResult, 'recordings' | 'bytes'>;

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
 * stays, with the reason. Files are deleted before the commit, so that a process that is killed in between finds the rows
 * again. Then the rows of old months go. Where the holds cannot be asked, nothing is deleted.
 */
@Injectable()
export class Retention implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger('Retention');
  private isStopping = false;
  /** The run of the start or of an hour. */
  private running: Promise<void> | undefined;
  private updateRequest: UpdateRequest = () => Promise.resolve();
  private failed: { readonly since: Date; readonly message: string } | undefined;

  constructor(
    private readonly dataSource: DataSource,
    @Inject(STORAGE) private readonly storage: Storage,
    @Inject(ENV) private readonly env: ResolvedEnv,
    private readonly metrics: Metrics,
    private readonly months: OldMonths,
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
    this.running = this.start();
    inBackground(this.running);
  }

  /** A process that was killed may have left rows without their files, and one that is often restarted never runs an hour. */
  private async start(): Promise<void> {
    await this.recordDefault();
    if (!this.isStopping) await this.run().catch(() => undefined);
  }

  @Interval('video retention', INTERVAL_MS)
  async hourly(): Promise<void> {
    await (this.running = this.deleteOld());
  }

  private async deleteOld(): Promise<void> {
    await deleteOldHours(this.dataSource);
    await this.run();
  }

  onModuleDestroy(): void {
    this.isStopping = true;
  }

  /** The connections are closed after this. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.running?.catch(() => undefined);
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
    try {
      return { ...(await this.removeOld(before)), ...found };
    } finally {
      // A file that cannot be deleted keeps its own month alone.
      await this.months.drop();
    }
  }

  private async removeOld(before: Date): Promise<Removed> {
    const removed = { recordings: 0, bytes: 0 };
    let failure: Error | undefined;
    let last: OldRecording | undefined;
    const next = () => findStoredBefore(this.dataSource, before, last, BATCH);
    for (let batch = await next(); batch.length > 0 && !this.isStopping; batch = await next()) {
      last = batch.at(-1);
      const due = batch.filter(({ is_due }) => is_due);
      if (due.length === 0) continue;
      const [{ recordings, bytes }, error] = await this.remove(due).catch((error: Error) => [NOTHING, error] as const);
      removed.recordings += recordings;
      removed.bytes += bytes;
      if (error === undefined) continue;
      // A file that cannot be deleted must not keep all younger ones. A storage that is not available would fail each.
      if (isDatabaseUnavailable(error) || !(await this.storage.check()).writable) throw error;
      failure ??= error;
    }
    if (failure !== undefined) throw failure;
    return removed;
  }

  /** What was removed, and why others could not be: their rows stay as they are. */
  private async remove(batch: readonly OldRecording[]): Promise<readonly [Removed, error: Error | undefined]> {
    return inTransaction(this.dataSource, async (manager) => {
      await lockRemoval(manager);
      const rows = await lockRemovable(manager, batch);
      const failures = await this.storage.deleteMany(rows.map(({ id }) => recordingFile(id)));
      const gone = rows.filter(({ id }) => !failures.has(recordingFile(id)));
      await markDeleted(manager, gone, reasonOf);
      for (const row of gone) {
        const { hauler_id: haulerId, id: recordingId, part_id: partId } = row;
        if (partId === null) continue;
        await this.updateRequest(manager, { haulerId, partId, recordingId, reason: reasonOf(row) });
      }
      const bytes = gone.reduce((sum, { size_bytes: size }) => sum + Number(size), 0);
      return [{ recordings: gone.length, bytes }, [...failures.values()][0]] as const;
    });
  }

  private recordDefault(): Promise<void> {
    const days = this.env.VIDEO_RETENTION_DAYS;
    return inTransaction(this.dataSource, (manager) => recordDefault(manager, days === 0 ? null : days));
  }
}

const NOTHING: Removed = { recordings: 0, bytes: 0 };

const reasonOf = ({ days }: OldRecording): string =>
  `The file was deleted ${days} days after it was stored, by the retention of its hauler. Request a clip of this range to get it again.`;
