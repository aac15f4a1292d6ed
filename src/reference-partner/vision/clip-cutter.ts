import { join } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ENV, type ResolvedEnv } from '../../config/env.js';
import { epochMillis, instantOf } from '../../contracts/common/instant.js';
import { ClipFolders } from './clip-folders.js';
import { chunksOf, type Film, filmName } from './film-tables.js';
import type { Clip } from './media/cut-clip.js';
import { cutClipInProcess } from './media/media-process.js';

/** The camera and the time of a clip. */
export interface ClipRange {
  readonly customerId: string;
  readonly truckId: string;
  readonly cameraId: string;
  readonly startTime: Date;
  readonly endTime: Date;
}

/** Cuts clips out of the stored recordings, each in a folder of its own. */
@Injectable()
export class ClipCutter {
  constructor(
    private readonly dataSource: DataSource,
    private readonly folders: ClipFolders,
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'STORAGE_URL'>,
  ) {}

  /** Cuts a clip and hands it with the path of its file to `use`; the file is removed afterwards. */
  async cut(range: ClipRange, signal: AbortSignal, use: (clip: Clip, path: string) => Promise<void>): Promise<void> {
    const folder = await this.folders.make();
    try {
      const target = join(folder, 'clip.mp4');
      const { startTime, endTime } = range;
      const instants = { startTime: instantOf(startTime), endTime: instantOf(endTime) };
      const chunks = await chunksOf(this.dataSource, range, instants);
      const clip = await cutClipInProcess({
        storageUrl: this.env.STORAGE_URL,
        chunks: chunks.map(storedChunk),
        range: { startTime, endTime },
        target,
        signal,
      });
      await use(clip, target);
    } finally {
      await this.folders.remove(folder);
    }
  }
}

const storedChunk = ({ id, startTime, endTime, sizeBytes }: Film) => ({
  name: filmName('recordings', id),
  sizeBytes,
  startTime: new Date(epochMillis(startTime)),
  endTime: new Date(epochMillis(endTime)),
});
