import { Inject, Injectable } from '@nestjs/common';
import {
  type StorageFinding,
  type StorageRemedy,
  type StorageRepair,
  type StorageRepairRequest,
} from '../../contracts/admin/storage.dto.js';
import { unavailable } from '../../core/errors/app-error.js';
import { StorageUnavailableError } from '../../core/storage/storage-errors.js';
import { STORAGE, type Storage } from '../../core/storage/storage.js';
import { RecordingContent } from '../../vision/downloads/recording-content.service.js';
import { StorageChecks } from './storage-check.service.js';

/** Puts right what the comparison of the storage with the database finds. */
@Injectable()
export class StorageRepairs {
  constructor(
    private readonly checks: StorageChecks,
    private readonly contents: RecordingContent,
    @Inject(STORAGE) private readonly storage: Storage,
  ) {}

  /** With `dryRun` it changes nothing, and reports what it would do. */
  async run({
    checksums = false,
    dryRun = false,
    removeOrphans = false,
  }: StorageRepairRequest): Promise<StorageRepair> {
    const { examined, data, unread } = await this.checks.examine({ checksums });
    const counts: Record<StorageRemedy, number> = { fetchedAgain: 0, removed: 0, none: 0 };
    const repaired = [];
    for (const finding of data) {
      const remedy = remedyOf(finding, removeOrphans);
      const isDone = dryRun || (await this.apply(finding, remedy));
      const shown = isDone ? remedy : 'none';
      counts[shown] += 1;
      repaired.push({ ...finding, remedy: shown });
    }
    if (!dryRun && counts.fetchedAgain > 0) this.contents.fetchDue();
    return { dryRun, examined, ...counts, data: repaired, unread };
  }

  /** Returns false if the row has changed in the meantime, or somebody stores the file. */
  private async apply(finding: StorageFinding, remedy: StorageRemedy): Promise<boolean> {
    if (remedy === 'fetchedAgain') return this.contents.fetchAgain(finding.id);
    try {
      if (remedy !== 'removed') return true;
      if (!(await this.checks.isOrphan(finding))) return false;
      await this.storage.delete(finding.file);
    } catch (error) {
      throw error instanceof StorageUnavailableError ? unavailable(error.message, { cause: error }) : error;
    }
    return true;
  }
}

/** A file that differs stays: the partner may have no other. Files of the reference partner come from its own callers. */
function remedyOf({ finding, table }: StorageFinding, removeOrphans: boolean): StorageRemedy {
  if (finding === 'file-lost' && table === 'recordings') return 'fetchedAgain';
  return finding === 'row-lost' && removeOrphans ? 'removed' : 'none';
}
