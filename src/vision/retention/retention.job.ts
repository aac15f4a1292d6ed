import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { storeMissingRetentions } from '../../auth/haulers.repository.js';
import { ENV, type ResolvedEnv } from '../../core/config/env.js';
import type { RetentionResult } from '../../contracts/admin/storage.routes.js';
import { Database } from '../../core/database/database.js';
import { inBackground } from '../../core/errors/background.js';
import { Metrics } from '../../core/observability/metrics.js';
import { STORAGE, type Storage } from '../../core/storage/storage.js';
import { ClipsRepository } from '../clips/clips.repository.js';
import { lockRemoval } from '../holds/holds.repository.js';
import { monthsOfRows, recordingFile } from '../recordings/recording.rules.js';
import { OldRows } from './old-rows.js';
import { findRemoved, forgetRemoved, type RemovedFile, storeRemoved } from './removed-files.repository.js';
import {
  countOld,
  expireOld,
  findOld,
  findOldSources,
  type OldFile,
  type OldSource,
  shortestRetention,
} from './retention.repository.js';

const INTERVAL_MS = 3_600_000;

/** Rows that one statement reads. */
const PAGE = 1_000;
/** Files of one transaction. A process that is killed leaves so many of them, until the next run. */
const BATCH = 100;
/** Disks and servers delete several files at a time faster than one after the other. */
const CONCURRENCY = 8;

/**
 * Deletes the files of recordings that are older than the retention of their hauler, but none that a hold keeps. The row stays, with
 * the reason. Then rows of long ago go. Where the holds cannot be asked, nothing is deleted.
 *
 * The order excludes holds from removals without a file being deleted in a transaction. One transaction asks the holds, expires the
 * rows and stores their files as removed; only after its commit the files are deleted, and then forgotten as removed:
 * - A hold that commits before that transaction keeps its recordings. One that commits later finds them expired, and names them as
 *   missing: the lock lets no hold be created in between. Nobody waits for the storage.
 * - No recording is `stored` whose file may be deleted, and each removed file is due until it is deleted. A process that is killed at
 *   any line leaves what the next run of any instance deletes; a file that is deleted twice is deleted.
 */
@Injectable()
export class Retention implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger('Retention');
  private readonly stopping = new AbortController();
  /** The last run; it never rejects. */
  private running: Promise<unknown> = Promise.resolve();
  private failed: { readonly since: Date; readonly message: string } | undefined;

  constructor(
    private readonly database: Database,
    @Inject(STORAGE) private readonly storage: Storage,
    @Inject(ENV) private readonly env: ResolvedEnv,
    private readonly metrics: Metrics,
    private readonly rows: OldRows,
    private readonly clips: ClipsRepository,
  ) {}

  /** Since when and why runs of this instance fail; undefined after one that succeeded. */
  get trouble(): { readonly since: Date; readonly message: string } | undefined {
    return this.failed;
  }

  /** A process that was killed may have left files, and one that is often restarted never runs an hour. */
  onApplicationBootstrap(): void {
    inBackground(this.hourly());
  }

  /** The run reports why it fails. */
  @Interval('video retention', INTERVAL_MS)
  async hourly(): Promise<void> {
    await this.run().catch(() => undefined);
  }

  onModuleDestroy(): void {
    this.stopping.abort();
  }

  /** The connections are closed after this, also for a run of an admin. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.running;
  }

  /** After the run of this instance that is under way, which may have passed what is due since. */
  run(): Promise<RetentionResult> {
    const run = this.running.then(() => this.runAndReport());
    this.running = run.catch(() => undefined);
    return run;
  }

  /** What a run would delete now. */
  async preview(): Promise<RetentionResult> {
    return { ...(await countOld(this.database)), ...(await this.limit()) };
  }

  private async runAndReport(): Promise<RetentionResult> {
    try {
      const result = await this.runOnce();
      this.failed = undefined;
      return result;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.failed = { since: this.failed?.since ?? new Date(), message };
      this.metrics.retentionFailures.inc();
      this.logger.error({ err: error }, 'stored video could not be deleted by age');
      throw error;
    }
  }

  private async runOnce(): Promise<RetentionResult> {
    await storeMissingRetentions(this.database, this.env.VIDEO_RETENTION_DAYS);
    const limit = await this.limit();
    const removal = new Removal(this.storage, this.database);
    try {
      await this.deleteLeft(removal);
      for (const source of await findOldSources(this.database)) await this.removeOld(source, removal);
      removal.throwIfFailed();
    } finally {
      // A file that cannot be deleted keeps no row.
      await this.rows.delete(this.stopping.signal);
    }
    return { ...removal.removed, ...limit };
  }

  private async limit(): Promise<Pick<RetentionResult, 'before'>> {
    const days = await shortestRetention(this.database);
    return days === null ? {} : { before: new Date(Date.now() - days * 86_400_000).toISOString() };
  }

  /** Of earlier runs, and of erasures that have ended. */
  private async deleteLeft(removal: Removal): Promise<void> {
    let files: RemovedFile[] = [];
    do {
      files = await findRemoved(this.database, files.at(-1), BATCH);
      await removal.delete(files);
    } while (files.length === BATCH && !this.stopping.signal.aborted);
  }

  private async removeOld(source: OldSource, removal: Removal): Promise<void> {
    let page: OldFile[] = [];
    do {
      page = await findOld(this.database, source, page.at(-1), PAGE);
      const due = page.filter(({ is_held: isHeld }) => !isHeld);
      for (let first = 0; first < due.length && !this.stopping.signal.aborted; first += BATCH)
        await removal.delete(await this.expire(source, due.slice(first, first + BATCH)));
    } while (page.length === PAGE && !this.stopping.signal.aborted);
  }

  private expire({ hauler_id: haulerId }: OldSource, files: readonly OldFile[]): Promise<RemovedFile[]> {
    const ids = files.map(({ id }) => id);
    return this.database.transaction(async (transaction) => {
      await lockRemoval(transaction);
      const rows = await expireOld(transaction, haulerId, ids, monthsOfRows(files));
      for (const { id: recordingId, part_id: partId, reason } of rows)
        if (partId !== null) await this.clips.clipExpired(transaction, haulerId, partId, { recordingId, reason });
      const removed = rows.map(({ id, size_bytes }): RemovedFile => ({
        hauler_id: haulerId,
        recording_id: id,
        erasure_id: null,
        size_bytes,
        exchanges: 0,
      }));
      await storeRemoved(transaction, removed);
      return removed;
    });
  }
}

/** Deletes removed files, and counts those of one run. */
class Removal {
  readonly removed = { recordings: 0, bytes: 0 };
  private failure: Error | undefined;

  constructor(
    private readonly storage: Storage,
    private readonly database: Database,
  ) {}

  /** A file that cannot be deleted does not keep the others. Throws where the storage is not available, which would fail each. */
  async delete(files: readonly RemovedFile[]): Promise<void> {
    const gone: RemovedFile[] = [];
    const left = files.values();
    let isAway = false;
    const worker = async (): Promise<void> => {
      for (const file of left) {
        if (isAway) return;
        try {
          await this.storage.delete(recordingFile(file.recording_id));
          gone.push(file);
        } catch (error) {
          this.failure = error as Error;
          isAway ||= !(await this.storage.check()).writable;
        }
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
    for (const { size_bytes: size } of await forgetRemoved(this.database, gone)) {
      this.removed.recordings += 1;
      this.removed.bytes += Number(size);
    }
    if (isAway) this.throwIfFailed();
  }

  throwIfFailed(): void {
    if (this.failure !== undefined) throw this.failure;
  }
}
