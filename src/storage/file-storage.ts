import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { open, readdir, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileFailure, isFolder } from './file-durability.js';
import { FilePlace } from './file-place.js';
import { openFileWriter } from './file-writer.js';
import type { KnownRoots } from './known-roots.js';
import type { ByteRange, Storage, StorageHealth, StoredFile } from './storage.js';
import { ifNotStored, isAbsent, NotStored, sentenceOf } from './storage-errors.js';
import { isStorageName, PARTIAL, safeFolder, safeName } from './storage-name.js';

/** Where the folder or file is gone meanwhile, that is no trouble; all else is the storage's. */
const absentAs =
  <T>(absent: T) =>
  (error: unknown): T => {
    if (isAbsent(error)) return absent;
    throw fileFailure(error);
  };

/** A file is asked for because a row tells of it, so its folder was made once: where that is absent, the mount is. */
async function absence(root: string, name: string, error: unknown): Promise<unknown> {
  if (!isAbsent(error)) return fileFailure(error);
  const [folder = ''] = name.split('/');
  return (await isFolder(join(root, folder))) ? new NotStored(name) : fileFailure(error);
}

const entriesOf = (path: string): Promise<string[]> => readdir(path).catch(absentAs<string[]>([]));

async function statFile(place: FilePlace, name: string): Promise<StoredFile | undefined> {
  const found = await stat(join(place.root, safeName(name))).catch(absentAs(undefined));
  if (found === undefined) await place.expectMount();
  return found?.isFile() ? { name, size: found.size, modifiedAt: found.mtime } : undefined;
}

async function deleteFile(root: string, name: string): Promise<void> {
  const path = join(root, safeName(name));
  await unlink(path).catch(async (error: unknown) => ifNotStored(await absence(root, name, error)));
}

async function readFile(root: string, name: string, range: ByteRange = { start: 0 }): Promise<Readable> {
  const handle = await open(join(root, safeName(name))).catch(async (error: unknown) => {
    throw await absence(root, name, error);
  });
  const stream = handle.createReadStream({ ...range, highWaterMark: 256 * 1024 });
  // The first piece is there before anybody is answered: a disk that fails it can still be told.
  await once(stream, 'readable').catch((error: unknown) => {
    throw fileFailure(error);
  });
  return stream;
}

async function* listFiles(place: FilePlace, folder: string): AsyncGenerator<StoredFile> {
  const { root } = place;
  for (const spread of await entriesOf(join(root, safeFolder(folder)))) {
    for (const entry of await entriesOf(join(root, folder, spread))) {
      const name = `${folder}/${spread}/${entry}`;
      const found = isStorageName(name) ? await statFile(place, name) : undefined;
      if (found !== undefined) yield found;
    }
  }
  // Where it was missing, or went meanwhile, what has come by then is not all.
  await place.expectMount();
}

async function checkFiles(place: FilePlace): Promise<StorageHealth> {
  const probe = join(place.root, PARTIAL, `.probe-${randomBytes(6).toString('hex')}`);
  try {
    const handle = await place.within(() => open(probe, 'wx'));
    try {
      await handle.write('probe');
      await handle.sync();
    } finally {
      await handle.close();
      await unlink(probe);
    }
    return { writable: true };
  } catch (error) {
    return { writable: false, reason: sentenceOf(fileFailure(error)) };
  }
}

async function newestChange(path: string): Promise<number> {
  const inside = await readdir(path).catch(() => []);
  const times = [path, ...inside.map((entry) => join(path, entry))].map((entry) =>
    stat(entry).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    ),
  );
  return Math.max(...(await Promise.all(times)));
}

async function sweepFiles(root: string, olderThanMs: number): Promise<number> {
  let removed = 0;
  for (const entry of await entriesOf(join(root, PARTIAL))) {
    const path = join(root, PARTIAL, entry);
    if (Date.now() - (await newestChange(path)) < olderThanMs) continue;
    await rm(path, { recursive: true, force: true }).catch(absentAs(undefined));
    removed += 1;
  }
  return removed;
}

/**
 * Files below `root`: published ones as `recordings/ab/<uuid>.mp4`, temporaries in a folder each under `.partial`, on
 * the same file system, so that a rename publishes. Several instances may share the root.
 */
export function fileStorage(root: string, roots?: KnownRoots): Storage {
  const place = new FilePlace(root, roots);
  return {
    writer: async (name, options) => openFileWriter(place, safeName(name), options),
    stat: (name) => statFile(place, name),
    read: (name, range) => readFile(root, name, range),
    delete: (name) => deleteFile(root, name),
    list: (folder) => listFiles(place, folder),
    check: () => checkFiles(place),
    sweep: (olderThanMs) => sweepFiles(root, olderThanMs),
    close: () => undefined,
  };
}
