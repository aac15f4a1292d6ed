import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { DataSource } from 'typeorm';
import { ENV, type ResolvedEnv } from '../../config/env.js';
import { STORAGE, type Storage } from '../../storage/storage.js';
import { recordingFile } from './recording.rules.js';

const INTERVAL_MS = 3_600_000;
const BATCH = 500;

export interface RetentionResult {
  /** The number of deleted files; with `dryRun`, of the files to delete. */
  readonly recordings: number;
  readonly bytes: number;
  /** Files stored before this time are deleted. Absent where retention is off. */
  readonly before?: string;
}

interface OldRow {
  readonly hauler_id: string;
  readonly id: string;
  readonly size_bytes: string;
}

/**
 * Deletes the files of recordings that were stored more than `VIDEO_RETENTION_DAYS` ago (0: never). The row stays, with the
 * reason. The file is deleted first, so that a process that is killed in between finds the row again.
 */
@Injectable()
export class Retention implements OnModuleDestroy {
  private isStopping = false;

  constructor(
    private readonly dataSource: DataSource,
    @Inject(STORAGE) private readonly storage: Storage,
    @Inject(ENV) private readonly env: ResolvedEnv,
  ) {}

  @Interval('video retention', INTERVAL_MS)
  async hourly(): Promise<void> {
    await this.run();
  }

  onModuleDestroy(): void {
    this.isStopping = true;
  }

  /** With `dryRun` it only counts. */
  async run({ dryRun = false } = {}): Promise<RetentionResult> {
    const days = this.env.VIDEO_RETENTION_DAYS;
    if (days === 0) return { recordings: 0, bytes: 0 };
    const before = new Date(Date.now() - days * 86_400_000);
    if (dryRun) return this.count(before);
    let recordings = 0;
    let bytes = 0;
    for (let batch = await this.old(before); batch.length > 0; batch = await this.old(before)) {
      for (const row of batch) {
        if (this.isStopping) return { recordings, bytes, before: before.toISOString() };
        await this.remove(row, days);
        recordings += 1;
        bytes += Number(row.size_bytes);
      }
    }
    return { recordings, bytes, before: before.toISOString() };
  }

  private old(before: Date): Promise<OldRow[]> {
    return this.dataSource.query(
      `SELECT hauler_id, id, size_bytes FROM recordings WHERE status = 'stored' AND stored_at < $1
       ORDER BY stored_at LIMIT ${BATCH}`,
      [before],
    );
  }

  private async count(before: Date): Promise<RetentionResult> {
    const [row] = await this.dataSource.query<[{ recordings: number; bytes: string }]>(
      `SELECT count(*)::int AS recordings, coalesce(sum(size_bytes), 0) AS bytes FROM recordings
       WHERE status = 'stored' AND stored_at < $1`,
      [before],
    );
    return { recordings: row.recordings, bytes: Number(row.bytes), before: before.toISOString() };
  }

  private async remove({ hauler_id, id }: OldRow, days: number): Promise<void> {
    await this.storage.delete(recordingFile(id));
    await this.dataSource.query(
      `UPDATE recordings SET status = 'expired', reason = $3, deleted_at = now(), updated_at = now()
       WHERE hauler_id = $1 AND id = $2 AND status = 'stored'`,
      [hauler_id, id, `The file was deleted ${days} days after it was stored.`],
    );
  }
}
