import type { Storage } from '../../src/core/storage/storage.js';
import type { DownloadOrder, ResumePoint } from '../../src/vision/downloads/downloader.js';
import { Downloader } from '../../src/vision/downloads/downloader.js';

/** Downloads one file in several attempts, and keeps the resume point as the row of a recording does. */
export class ResumedDownloads {
  point: ResumePoint | undefined;

  constructor(
    private readonly storage: Storage,
    readonly name: string,
  ) {}

  download(order: Omit<DownloadOrder, 'name'>) {
    return new Downloader(this.storage, { allowPrivate: true }).download({
      name: this.name,
      resume: this.point,
      onCheckpoint: async (point) => void (this.point = point),
      ...order,
    });
  }
}
