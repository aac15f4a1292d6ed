import { createHash, type Hash } from 'node:crypto';
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import {
  FILES_FOLDER,
  HAULER_FORMAT,
  folderOf,
  type Manifest,
  MANIFEST_ENTRY,
  MANIFEST_SUM_ENTRY,
  MARK_ENTRY,
  markOf,
  partName,
  type StreamSum,
  sumLine,
  tableFolder,
  VIDEOS_FOLDER,
} from './archive-format.js';
import { BackupError, DamagedArchiveError } from './backup-error.js';
import { PART_BYTES } from './pack-stream.js';
import { readTar, type TarEntry } from './tar.js';

const decompress = promisify(zstdDecompress);
export const sha256Of = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/** Reads a whole archive and compares every sum. Returns its manifest. */
export async function checkArchive(
  source: AsyncIterable<Buffer>,
  progress: (bytes: number) => void,
): Promise<Manifest> {
  const entries = entriesOf(source);
  const streams = new Map<string, { parts: number; bytes: number; hash: Hash }>();
  let [manifest, sum]: [Buffer | undefined, Buffer | undefined] = [undefined, undefined];
  for await (const { name, content } of entries) {
    const folder = folderOf(name);
    if (folder !== undefined && manifest === undefined) {
      const stream = streams.get(folder) ?? { parts: 0, bytes: 0, hash: createHash('sha256') };
      streams.set(folder, stream);
      stream.parts += 1;
      stream.bytes += content.length;
      stream.hash.update(content);
      if (name !== partName(folder, stream.parts)) throw new DamagedArchiveError(`before ${name}`);
      progress(content.length);
    } else if (name === MANIFEST_ENTRY && manifest === undefined) manifest = content;
    else if (name === MANIFEST_SUM_ENTRY && manifest !== undefined && sum === undefined) sum = content;
    else throw new DamagedArchiveError(`unexpected entry ${name}`);
  }
  if (manifest === undefined || sum?.toString() !== sumLine(sha256Of(manifest)))
    throw new DamagedArchiveError('in its manifest');
  const parsed = JSON.parse(manifest.toString()) as Manifest;
  const expected = new Map<string, StreamSum>(parsed.tables.map((table) => [tableFolder(table.name), table]));
  expected.set(VIDEOS_FOLDER, parsed.videos);
  if (parsed.hauler !== undefined) expected.set(FILES_FOLDER, parsed.hauler.files);
  for (const folder of streams.keys()) if (!expected.has(folder)) throw new DamagedArchiveError(`unexpected ${folder}`);
  for (const [folder, { parts, sha256 }] of expected) {
    const found = streams.get(folder) ?? { parts: 0, hash: createHash('sha256') };
    if (found.parts !== parts || found.hash.digest('hex') !== sha256) throw new DamagedArchiveError(`in ${folder}`);
  }
  return parsed;
}

/** The entries of an archive after its mark. Throws if the source is no archive, or one of a later format. */
async function* entriesOf(source: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const entries = readTar(source);
  const first = await entries.next().catch((error: unknown) => {
    throw error instanceof DamagedArchiveError ? notAnArchive() : error;
  });
  if (first.done === true || first.value.name !== MARK_ENTRY) throw notAnArchive();
  const version = versionIn(first.value.content);
  if (version > HAULER_FORMAT)
    throw new BackupError(
      `the archive has format ${version}, and this release reads format ${HAULER_FORMAT}: restore it with the release that wrote it, or a later one`,
    );
  yield* entries;
}

const notAnArchive = (): BackupError =>
  new BackupError('it is not a backup of haulbridge, or its beginning is damaged');

function versionIn(mark: Buffer): number {
  const [, digits] = /"version":(\d{1,9})\}\n$/.exec(mark.toString()) ?? [];
  const version = Number(digits);
  if (digits === undefined || !markOf(version).equals(mark)) throw notAnArchive();
  return version;
}

/** Reads the streams of a checked archive in their order. The sums are compared again, because the file may have changed. */
export class ArchiveStreams {
  private readonly entries: AsyncGenerator<TarEntry>;

  constructor(source: AsyncIterable<Buffer>) {
    this.entries = entriesOf(source);
  }

  /** The content of the next stream. Consume it before the one after it. */
  async *read(folder: string, { parts, sha256 }: StreamSum): AsyncGenerator<Buffer> {
    const hash = createHash('sha256');
    for (let part = 1; part <= parts; part++) {
      const next = await this.entries.next();
      const entry = next.done === true ? undefined : next.value;
      if (entry?.name !== partName(folder, part)) throw new DamagedArchiveError(`in ${folder}`);
      hash.update(entry.content);
      yield await decompress(entry.content, { maxOutputLength: PART_BYTES });
    }
    if (hash.digest('hex') !== sha256) throw new DamagedArchiveError(`in ${folder}`);
  }

  /** Ends the reading early. */
  async close(): Promise<void> {
    await this.entries.return(undefined);
  }
}
