import { Controller, Inject, Injectable } from '@nestjs/common';
import { Route } from '../auth/route.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import {
  type StorageFinding,
  type StorageRemedy,
  StorageRepair,
  StorageRepairRequest,
} from '../contracts/admin/storage.dto.js';
import { unavailable } from '../errors/app-error.js';
import { JsonBody } from '../http/json-body.js';
import { StorageUnavailableError } from '../storage/storage-errors.js';
import { STORAGE, type Storage } from '../storage/storage.js';
import { RecordingContent } from '../vision/downloads/recording-content.service.js';
import { Doctor } from './doctor.js';

/** Puts right what the comparison of the storage with the database finds. */
@Injectable()
export class StorageRepairs {
  constructor(
    private readonly doctor: Doctor,
    private readonly contents: RecordingContent,
    @Inject(STORAGE) private readonly storage: Storage,
  ) {}

  /** With `dryRun` it changes nothing, and reports what it would do. */
  async run({
    checksums = false,
    dryRun = false,
    removeOrphans = false,
  }: StorageRepairRequest): Promise<StorageRepair> {
    const { examined, data, unread } = await this.doctor.examine({ checksums });
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
      if (!(await this.doctor.isOrphan(finding))) return false;
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

@Controller()
export class StorageRepairController {
  constructor(private readonly repairs: StorageRepairs) {}

  @Route(ADMIN_API, 'repairStorage')
  repair(@JsonBody() request: StorageRepairRequest) {
    return this.repairs.run(request);
  }
}
