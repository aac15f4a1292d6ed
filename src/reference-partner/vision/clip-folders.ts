import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { mkdir, mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { ENV, type ResolvedEnv } from '../../config/env.js';
import { DiskSpace } from '../../storage/disk-space.js';
import { errorCode, fileFailure } from '../../storage/storage-errors.js';
import { systemNow } from '../sandbox/partner-clock.js';

const PREFIX = 'haulbridge-clip-';
const EVERY_MS = 60_000;
/** Other instances use the same folder; they touch their subfolders at every sweep. */
const LEFTOVER_MS = 15 * 60_000;

/** Clips are cut in folders below `DATA_DIR`, because the temporary folder of the system may be in memory. */
@Injectable()
export class ClipFolders implements OnApplicationBootstrap {
  private readonly logger = new Logger(ClipFolders.name);
  private readonly inUse = new Set<string>();
  private readonly parent: string;
  private readonly space: DiskSpace;

  constructor(@Inject(ENV) { DATA_DIR }: Pick<ResolvedEnv, 'DATA_DIR'>) {
    this.parent = join(DATA_DIR, 'scratch');
    this.space = new DiskSpace(this.parent);
  }

  /**
   * Runs `work` in a new folder that has room for `bytes`, and removes the folder. Rejects with `StorageUnavailableError`
   * if there is no room.
   */
  async within<T>(bytes: number, work: (folder: string) => Promise<T>): Promise<T> {
    const folder = await this.make();
    try {
      const reservation = await this.space.reserve(bytes);
      try {
        return await work(folder);
      } finally {
        reservation.release();
      }
    } finally {
      this.inUse.delete(folder);
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Sweeps at the start too: a process that crashes on every clip may never reach the first interval. */
  async onApplicationBootstrap(): Promise<void> {
    await this.sweep().catch((error: unknown) => {
      this.logger.warn({ err: error }, 'cannot look for the folders of unfinished clips');
    });
  }

  /** Removes the folders of killed processes. Returns their number. */
  @Interval('clip folders', EVERY_MS)
  async sweep(): Promise<number> {
    const now = systemNow();
    for (const folder of this.inUse) await utimes(folder, now / 1_000, now / 1_000).catch(() => undefined);
    let removed = 0;
    for (const name of await entriesOf(this.parent)) {
      if (!name.startsWith(PREFIX)) continue;
      const path = join(this.parent, name);
      const changed = await stat(path).catch(() => undefined);
      if (changed === undefined || changed.mtimeMs > now - LEFTOVER_MS) continue;
      // A folder of another user stays: only that user can remove it.
      removed += await rm(path, { recursive: true, force: true }).then(
        () => 1,
        () => 0,
      );
    }
    return removed;
  }

  private async make(): Promise<string> {
    try {
      await mkdir(this.parent, { recursive: true });
      const folder = await mkdtemp(join(this.parent, PREFIX));
      this.inUse.add(folder);
      return folder;
    } catch (error) {
      throw fileFailure(error);
    }
  }
}

/** The place is created with the first clip. */
async function entriesOf(place: string): Promise<string[]> {
  return readdir(place).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  });
}
