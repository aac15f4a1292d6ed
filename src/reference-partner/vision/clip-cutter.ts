import { join } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ENV, type ResolvedEnv } from '../../config/env.js';
import { epochMillis, instantOf } from '../../contracts/common/instant.js';
import { ClipFolders } from './clip-folders.js';
import { chunksOf, type StoredVideo, videoFileName } from './stored-videos.repository.js';
import type { Clip } from './media/cut-clip.js';
import { cutClipInProcess } from './media/media-process.js';
import type { StoredChunk } from './media/media-child.js';

/** The camera and the time of a clip. */
export interface ClipRange {
  readonly customerId: string;
  readonly truckId: string;
  readonly cameraId: string;
  readonly startTime: Date;
  readonly endTime: Date;
}

/** Cuts clips out of the stored recordings. Each clip has its own temporary folder. */
@Injectable()
export class ClipCutter {
  constructor(
    private readonly dataSource: DataSource,
    private readonly folders: ClipFolders,
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'STORAGE_URL'>,
  ) {}

  /** Cuts a clip and calls `use` with it and the path of its file. Deletes the file afterwards. */
  async cut(range: ClipRange, signal: AbortSignal, use: (clip: Clip, path: string) => Promise<void>): Promise<void> {
    const { startTime, endTime } = range;
    const instants = { startTime: instantOf(startTime), endTime: instantOf(endTime) };
    const chunks = (await chunksOf(this.dataSource, range, instants)).map(storedChunk);
    await this.folders.within(likelyBytes(chunks, range), async (folder) => {
      const target = join(folder, 'clip.mp4');
      const order = { storageUrl: this.env.STORAGE_URL, chunks, range: { startTime, endTime }, target, signal };
      await use(await cutClipInProcess(order), target);
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
