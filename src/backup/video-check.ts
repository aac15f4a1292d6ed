import { createHash } from 'node:crypto';
import { openStorage } from '../storage/open-storage.js';
import type { Storage } from '../storage/storage.js';
import { ifNotStored } from '../storage/storage-errors.js';
import { type ArchivedVideo, tableFolder, type Manifest, VIDEOS_FOLDER } from './archive-format.js';
import type { ArchivePlace } from './archive-place.js';
import { ArchiveStreams } from './archive-reader.js';
import type { Progress } from './progress.js';

/** Requests to the storage at a time: S3 answers each in tens of milliseconds. */
const CONCURRENCY = 16;
const MAX_NAMES = 5;

export interface VideoDifferences {
  readonly files: number;
  missing: number;
  /** Of another size or, if sums are compared, another content. */
  differing: number;
  /** The first of both. */
  readonly names: string[];
}

export interface VideoCheckInput {
  readonly place: ArchivePlace;
  readonly manifest: Manifest;
  readonly storageUrl: string;
  readonly comparesSums: boolean;
  readonly progress: Progress;
}

/** Looks for each video of an archive in a storage. */
export async function checkVideos(input: VideoCheckInput): Promise<VideoDifferences> {
  const { manifest, storageUrl, comparesSums, progress } = input;
  const result: VideoDifferences = { files: manifest.videos.files, missing: 0, differing: 0, names: [] };
  const storage = await openStorage(storageUrl);
  let examined = 0;
  try {
    for await (const videos of batchesOf(videosIn(input.place, manifest))) {
      const states = await Promise.all(videos.map((video) => stateOf(storage, video, comparesSums)));
      states.forEach((state, i) => {
        if (state === 'same') return;
        result[state] += 1;
        if (result.names.length < MAX_NAMES) result.names.push(videos[i]?.name ?? '');
      });
      examined += videos.length;
      progress.report(`videos: ${examined} of ${result.files}`);
    }
    return result;
  } finally {
    storage.close();
  }
}

async function stateOf(
  storage: Storage,
  { name, size, sha256 }: ArchivedVideo,
  comparesSums: boolean,
): Promise<'same' | 'missing' | 'differing'> {
  const found = await storage.stat(name);
  if (found === undefined) return 'missing';
  if (found.size !== size) return 'differing';
  if (!comparesSums) return 'same';
  const content = await storage.read(name).catch(ifNotStored);
  if (content === undefined) return 'missing';
  const hash = createHash('sha256');
  for await (const chunk of content) hash.update(chunk as Buffer);
  return hash.digest('hex') === sha256 ? 'same' : 'differing';
}

/** The list of videos follows the tables. */
export async function* videosIn(place: ArchivePlace, manifest: Manifest): AsyncGenerator<ArchivedVideo> {
  const streams = new ArchiveStreams(place.read());
  try {
    await skipTables(streams, manifest);
    let rest = '';
    for await (const block of streams.read(VIDEOS_FOLDER, manifest.videos)) {
      const lines = (rest + block.toString()).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) yield JSON.parse(line) as ArchivedVideo;
    }
  } finally {
    await streams.close();
  }
}

export async function skipTables(streams: ArchiveStreams, manifest: Manifest): Promise<void> {
  for (const table of manifest.tables) {
    for await (const block of streams.read(tableFolder(table.name), table)) void block;
  }
}

export async function* batchesOf<T>(items: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T[]> {
  let batch: T[] = [];
  for await (const item of items) {
    if (batch.push(item) < CONCURRENCY) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
