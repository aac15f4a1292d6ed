import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect } from '@jest/globals';
import { openStorage } from '../../../src/core/storage/open-storage.js';
import type { Storage } from '../../../src/core/storage/storage.js';
import { DownloadError } from '../../../src/vision/downloads/download-error.js';
import type { Downloaded, DownloadOrder } from '../../../src/vision/downloads/downloader.js';
import { contentOf, newName, sha256 } from '../../shared/storage-cases.js';
import { type FileHost, LINK_SECRET, startFileHost } from '../../support/file-host.js';
import { ResumedDownloads } from '../../support/resumed-downloads.js';

/** A file storage and a host; each download is of one file, in one or several attempts. */
export class DownloaderScene {
  private file: ResumedDownloads;

  private constructor(
    readonly root: string,
    readonly storage: Storage,
    readonly host: FileHost,
  ) {
    this.file = new ResumedDownloads(storage, newName());
  }

  static async start(): Promise<DownloaderScene> {
    const root = await mkdtemp(join(tmpdir(), 'haulbridge-download-'));
    return new DownloaderScene(root, await openStorage(`file:${root}`), await startFileHost());
  }

  /** The next download is of another file. */
  nextFile(): void {
    this.host.asked.length = 0;
    this.file = new ResumedDownloads(this.storage, newName());
  }

  get name(): string {
    return this.file.name;
  }

  get resumePoint() {
    return this.file.point;
  }

  download(order: Partial<DownloadOrder> = {}): Promise<Downloaded> {
    return this.file.download({ url: this.host.link, ...order });
  }

  /** A failed attempt: nothing is published, and the error does not contain the link's secret. */
  async failure(order: Partial<DownloadOrder> = {}): Promise<DownloadError> {
    const error: unknown = await this.download(order).then(
      () => 'no failure',
      (failed: unknown) => failed,
    );
    expect(error).toBeInstanceOf(DownloadError);
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(LINK_SECRET);
    expect(await this.storage.stat(this.name)).toBeUndefined();
    return error as DownloadError;
  }

  async expectStored(downloaded: Downloaded, expected: Buffer): Promise<void> {
    expect(downloaded).toMatchObject({ size: expected.length, sha256: sha256(expected) });
    expect((await contentOf(this.storage, this.name)).equals(expected)).toBe(true);
    expect(await this.drafts()).toEqual([]);
  }

  /** Drafts of this file. */
  async drafts(): Promise<string[]> {
    const all = await readdir(join(this.root, '.partial')).catch(() => []);
    return all.filter((found) => found.includes(this.name.slice(-40)));
  }

  async stop(): Promise<void> {
    await this.host.stop();
    await rm(this.root, { recursive: true });
  }
}
