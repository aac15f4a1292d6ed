import { Inject, Injectable } from '@nestjs/common';
import type { ErasureCounts } from '../../contracts/admin/erasures.routes.js';
import { Database } from '../../core/database/database.js';
import type { Sql } from '../../core/database/sql.js';
import { STORAGE, type Storage } from '../../core/storage/storage.js';
import { ClipsRepository } from '../../vision/clips/clips.repository.js';
import { lockRemoval } from '../../vision/holds/holds.repository.js';
import { recordingFile } from '../../vision/recordings/recording.rules.js';
import {
  forgetRemoved,
  removedBy,
  type RemovedFile,
  storeRemoved,
} from '../../vision/retention/removed-files.repository.js';
import type { Next, Run } from '../../core/work/run.js';
import { sumOf } from './erasure.rules.js';
import { type ErasureRow, ErasuresRepository } from './erasures.repository.js';
import {
  deleteRecording,
  type ErasedRecording,
  findFootage,
  namingFindings,
  redactByReference,
  redactFindings,
} from './footage-erasure.repository.js';

export interface ErasureKey {
  readonly hauler_id: string;
  readonly id: string;
}

const BATCH = 100;

/**
 * Erases the footage of a range. A recording is removed in one transaction, its file is deleted after that, and counted in another one: the
 * removed file stays known in between, so that a process that is killed at any line goes on where it was. What an erasure that failed has
 * left is deleted by the retention.
 */
@Injectable()
export class FootageErasure {
  constructor(
    private readonly database: Database,
    private readonly erasures: ErasuresRepository,
    @Inject(STORAGE) private readonly storage: Storage,
    private readonly clips: ClipsRepository,
  ) {}

  async erase(run: Run<ErasureKey>, row: ErasureRow): Promise<Next> {
    // Their recordings are gone: a hold that was created since keeps none of them.
    let erased = await this.deleteFiles(run, row.erased, await removedBy(this.database, row));
    const findings = await this.unlessHeld(run, row, async (transaction) => {
      const count = await redactFindings(transaction, row, await namingFindings(transaction, row));
      await run.update({ erased: sumOf(erased, { findings: count }) }, transaction);
      return count;
    });
    if (findings === undefined) return 'done';
    erased = sumOf(erased, { findings });
    const next = () => findFootage(this.database, row, BATCH);
    for (let batch = await next(); batch.length > 0; batch = await next()) {
      for (const recording of batch) {
        run.signal.throwIfAborted();
        const files = await this.unlessHeld(run, row, (transaction) =>
          this.removeRecording(transaction, row, recording),
        );
        if (files === undefined) return 'done';
        erased = await this.deleteFiles(run, erased, files);
      }
    }
    await run.finish('done', { status: 'done', finished_at: new Date(), erased });
    return 'done';
  }

  /** Undefined where a hold was created meanwhile, which ends the erasure. */
  private unlessHeld<T>(
    run: Run<ErasureKey>,
    row: ErasureRow,
    work: (transaction: Sql) => Promise<T>,
  ): Promise<T | undefined> {
    return this.bulk(async (transaction) => {
      await lockRemoval(transaction);
      const holds = await this.erasures.blockingHolds(transaction, row);
      if (holds.length === 0) return work(transaction);
      const reason = `A hold was created meanwhile (${holds.map(({ case_id }) => case_id).join(', ')}). It keeps the rest.`;
      await run.finish('done', { status: 'stopped', reason, finished_at: new Date() }, transaction);
      return undefined;
    });
  }

  /** Its file is deleted after the commit, and counted then. */
  private async removeRecording(transaction: Sql, row: ErasureRow, recording: ErasedRecording): Promise<RemovedFile[]> {
    if (!(await deleteRecording(transaction, recording))) return [];
    const { hauler_id, id, part_id: partId, partner_recording_id: partnerId, size_bytes } = recording;
    if (partId !== null) await this.clips.clipErased(transaction, hauler_id, partId, row.id);
    const references = [`recordingId:${id}`, `partnerRecordingId:${partnerId}`];
    const exchanges = await redactByReference(transaction, hauler_id, references);
    const file = { hauler_id, recording_id: id, erasure_id: row.id, size_bytes: size_bytes ?? '0', exchanges };
    await storeRemoved(transaction, [file]);
    return [file];
  }

  /** Returns the new counts. A file that another run has counted counts no more. */
  private async deleteFiles(
    run: Run<ErasureKey>,
    erased: Partial<ErasureCounts>,
    files: readonly RemovedFile[],
  ): Promise<Partial<ErasureCounts>> {
    let counts = erased;
    for (const file of files) {
      const name = recordingFile(file.recording_id);
      await this.storage.removeDrafts(name);
      const { versionsLeft } = await this.storage.delete(name);
      counts = await this.bulk(async (transaction) => {
        const [gone] = await forgetRemoved(transaction, [file]);
        if (gone === undefined) return counts;
        const { size_bytes: bytes, exchanges } = gone;
        const one = { recordings: 1, bytes: Number(bytes), versionsLeft: versionsLeft ? 1 : 0, exchanges };
        const sum = sumOf(counts, one);
        await run.update({ erased: sum }, transaction);
        return sum;
      });
    }
    return counts;
  }

  private bulk<T>(work: (transaction: Sql) => Promise<T>): Promise<T> {
    return this.database.transaction(work, { pool: 'bulk' });
  }
}
