import { mkdir, mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { DataSource } from 'typeorm';
import { PRIVATE_FOLDER } from '../../config/private-modes.js';
import { ENV, type ResolvedEnv } from '../../config/env.js';
import { epochMillis, instantOf } from '../../contracts/common/instant.js';
import { DiskSpace } from '../../storage/disk-space.js';
import { errorCode, fileFailure } from '../../storage/storage-errors.js';
import { systemNow } from '../sandbox/partner-clock.js';
import { chunksOf, type StoredVideo, videoFileName } from './stored-videos.repository.js';
import type { Clip } from './media/cut-clip.js';
import { cutClipInProcess } from './media/media-process.js';
import type { StoredChunk } from './media/media-child.js';

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
      await mkdir(this.parent, { recursive: true, mode: PRIVATE_FOLDER });
      const folder = await mkdtemp(join(this.parent, PREFIX));
      this.inUse.add(folder);
      return folder;
    } catch (error) {
      throw fileFailure(error);
    }
  }
}

/** The folder does not exist before the first clip. */
async function entriesOf(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  });
}

/** The camera and the time of a clip. */
export interface ClipRange {
  readonly customerId: string;
  readonly truckId: string;
  readonly cameraId: string;
  readonly startTime: Date;
  readonly endTime: Date;
}

/** A file of its own, or the name of a recording in the storage that is the clip. */
export type ClipFile = { readonly path: string } | { readonly stored: string };

/** Cuts clips out of the stored recordings. Each clip has its own temporary folder. */
@Injectable()
export class ClipCutter {
  constructor(
    private readonly dataSource: DataSource,
    private readonly folders: ClipFolders,
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'STORAGE_URL'>,
  ) {}

  /** Cuts a clip and calls `use` with it and its file, which it deletes afterwards unless it is that of a recording. */
  async cut(range: ClipRange, signal: AbortSignal, use: (clip: Clip, file: ClipFile) => Promise<void>): Promise<void> {
    const { startTime, endTime } = range;
    const instants = { startTime: instantOf(startTime), endTime: instantOf(endTime) };
    const chunks = (await chunksOf(this.dataSource, range, instants)).map(storedChunk);
    await this.folders.within(likelyBytes(chunks, range), async (folder) => {
      const target = join(folder, 'clip.mp4');
      const order = { storageUrl: this.env.STORAGE_URL, chunks, range: { startTime, endTime }, target, signal };
      const clip = await cutClipInProcess(order);
      const whole = clip.uncut && chunks[clip.uncut.place]?.name;
      await use(clip, whole === undefined ? { path: target } : { stored: whole });
    });
  }
}

/** The share of each chunk that is in the range, twice because the rate of a camera varies, but no more than the chunk. */
function likelyBytes(chunks: readonly StoredChunk[], { startTime, endTime }: ClipRange): number {
  const bytes = chunks.map((chunk) => {
    const from = Math.max(chunk.startTime.getTime(), startTime.getTime());
    const to = Math.min(chunk.endTime.getTime(), endTime.getTime());
    const share = (to - from) / (chunk.endTime.getTime() - chunk.startTime.getTime());
    return chunk.sizeBytes * Math.min(1, 2 * share);
  });
  return Math.ceil(bytes.reduce((sum, next) => sum + next, 0));
}

const storedChunk = ({ id, startTime, endTime, sizeBytes }: StoredVideo): StoredChunk => ({
  name: videoFileName('recordings', id),
  sizeBytes,
  startTime: new Date(epochMillis(startTime)),
  endTime: new Date(epochMillis(endTime)),
});
