import { createHash } from 'node:crypto';
import { ifNotStored } from '../storage/storage-errors.js';
import type { Storage } from '../storage/storage.js';
import { type ArchivedVideo, FILES_FOLDER, type FilesSummary, type Manifest } from './archive-format.js';
import type { ArchivePlace } from './archive-place.js';
import { ArchiveStreams } from './archive-reader.js';
import { BackupError, DamagedArchiveError } from './backup-error.js';
import { ByteReader } from './byte-reader.js';
import { packStream } from './pack-stream.js';
import type { Progress } from './progress.js';
import { batchesOf, skipTables, videosIn } from './video-check.js';

/** Files up to this size are stored side by side: each waits for the disk. */
const SMALL_BYTES = 4 * 1024 * 1024;
const MAX_NAMES = 100;

/** Names of files, of which an unlimited number may be lost. */
export class NameList {
  count = 0;
  readonly names: string[] = [];

  add(name: string): void {
    this.count += 1;
    if (this.names.length < MAX_NAMES) this.names.push(name);
  }
}

/** The state of each video in the storage: a lost one has no bytes in the archive. */
export async function withLost(storage: Storage, videos: readonly ArchivedVideo[]): Promise<ArchivedVideo[]> {
  const marked: ArchivedVideo[] = [];
  for await (const batch of batchesOf(videos)) {
    const found = await Promise.all(batch.map(({ name }) => storage.stat(name)));
    batch.forEach((video, i) => marked.push(found[i]?.size === video.size ? video : { ...video, lost: true }));
  }
  return marked;
}

/** Yields the contents of the videos, one after the other, as one stream of the archive. */
export async function* packFiles(
  storage: Storage,
  videos: AsyncIterable<ArchivedVideo>,
  progress: Progress,
): AsyncGenerator<Buffer, FilesSummary> {
  const lost = new NameList();
  let files = 0;
  async function* contents(): AsyncGenerator<Buffer> {
    for await (const video of videos) {
      if (video.lost === true) lost.add(video.name);
      else yield* contentOf(storage, video, lost);
      files += 1;
      progress.report(`files: ${files}`);
    }
  }
  const stored = yield* packStream(FILES_FOLDER, contents());
  return { ...stored, lost: lost.count, lostNames: lost.names };
}

async function* contentOf(
  storage: Storage,
  { name, size, sha256 }: ArchivedVideo,
  lost: NameList,
): AsyncGenerator<Buffer> {
  const source = await storage.read(name).catch(ifNotStored);
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of source ?? []) {
    hash.update(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    yield chunk as Buffer;
  }
  if (bytes !== size) throw new BackupError(`the file ${name} has changed during the export: export again`);
  // Its bytes are in the archive already. The import compares the sum too, and leaves the file out.
  if (hash.digest('hex') !== sha256) lost.add(name);
}

export interface StoreInput {
  readonly place: ArchivePlace;
  readonly manifest: Manifest;
  readonly storage: Storage;
  readonly progress: Progress;
  /** Called before the files of a batch are written. Throws if one belongs to somebody else. */
  readonly claim: (names: readonly string[]) => Promise<void>;
}

/** Stores the files of an archive. Returns those that were lost at the source. */
export async function storeFiles(input: StoreInput): Promise<NameList> {
  const { place, manifest, storage, progress, claim } = input;
  const summary = manifest.hauler?.files;
  if (summary === undefined) throw new TypeError('the archive has no files');
  const streams = new ArchiveStreams(place.read());
  const lost = new NameList();
  try {
    await skipTables(streams, manifest);
    for await (const block of streams.read('videos', manifest.videos)) block.fill(0);
    const source = new ByteReader(streams.read(FILES_FOLDER, summary));
    let stored = 0;
    for await (const batch of batchesOf(videosIn(place, manifest))) {
      await claim(batch.map(({ name }) => name));
      const small: Promise<void>[] = [];
      for (const video of batch) {
        if (video.lost === true) lost.add(video.name);
        else if (video.size > SMALL_BYTES) await store(storage, video, piecesOf(source, video.size), lost);
        else small.push(store(storage, video, [await source.take(video.size)], lost));
      }
      const failed = (await Promise.allSettled(small)).find((each) => each.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      stored += batch.length;
      progress.report(`files: ${stored} of ${manifest.videos.files}`);
    }
    if (!(await source.isAtEnd())) throw new DamagedArchiveError(`in ${FILES_FOLDER}`);
    return lost;
  } finally {
    await streams.close();
  }
}

async function store(
  storage: Storage,
  { name, size, sha256 }: ArchivedVideo,
  content: Iterable<Buffer> | AsyncIterable<Buffer>,
  lost: NameList,
): Promise<void> {
  const published = await storage.store(name, asyncOf(content), size);
  if (published.sha256 === sha256) return;
  await storage.delete(name);
  lost.add(name);
}

async function* asyncOf(content: Iterable<Buffer> | AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* content;
}

const PIECE_BYTES = 1024 * 1024;

async function* piecesOf(source: ByteReader, size: number): AsyncGenerator<Buffer> {
  for (let left = size; left > 0; left -= PIECE_BYTES) yield await source.take(Math.min(PIECE_BYTES, left));
}

/** Deletes the files of an archive whose import failed. */
export async function deleteFiles(storage: Storage, place: ArchivePlace, manifest: Manifest): Promise<void> {
  for await (const batch of batchesOf(videosIn(place, manifest)))
    await storage.deleteMany(batch.map(({ name }) => name));
}
