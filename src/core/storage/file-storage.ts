import { access, copyFile, open, opendir, readdir, rename, rm, rmdir, stat, unlink } from 'node:fs/promises';
import { makeFolder } from './make-folder.js';
import {
  errorCode,
  fileFailure,
  ifNotStored,
  isAbsent,
  isStorageError,
  NotStoredError,
  sentenceOf,
  StorageUnavailableError,
  UnreadableError,
} from './storage-errors.js';
import { isSpreadFolder, isStorageFolder, isStorageName, safeFolder, safeName } from './storage-names.js';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { basename, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { Logger } from '@nestjs/common';
import { PRIVATE_FILE } from '../config/private-modes.js';
import { DiskSpace } from './disk-space.js';
import { draftCalls, type DraftFolder, isDraftFolder } from './draft.js';
import type { ByteRange, Storage, StorageHealth, StoredFile } from './storage.js';

/** The folder of drafts in a file storage. No folder of published files begins with a dot. */
export const DRAFT_FOLDER = '.partial';

/** Records the roots that have had files, for an instance that starts while a mount is missing. */
export interface KnownRoots {
  has(root: string): Promise<boolean>;
  add(root: string): Promise<void>;
}

/**
 * The root folder of a file storage. It is created once. After it has had files, a root without any of their folders is
 * treated as a missing mount: nothing is written there, and no file is reported as lost.
 */
export class StorageRoot {
  #isKnown = false;

  constructor(
    readonly path: string,
    /** The folder of drafts. On the same file system, so that a rename publishes. */
    readonly draftPath: string,
    /** Without it only this process knows that the root has had files. */
    private readonly roots?: KnownRoots,
  ) {}

  /** Runs work that needs the folder of drafts, and creates the folder if that is allowed. */
  async within<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isKnown) {
      await this.expectMount();
      try {
        return await work();
      } catch (error) {
        if (!isAbsent(error)) throw error;
      }
    }
    await this.expectMount();
    await makeFolder(this.draftPath);
    // The folder may contain files that were copied here.
    if (!(await this.#isBare())) await this.remember();
    return work();
  }

  /** Call it after a file was published. */
  async remember(): Promise<void> {
    if (this.#isKnown) return;
    await this.roots?.add(this.path);
    this.#isKnown = true;
  }

  /** Throws if the mount is missing. */
  async expectMount(): Promise<void> {
    // In this order: another instance may publish the first file in between.
    this.#isKnown ||= (await this.roots?.has(this.path)) === true;
    if (!this.#isKnown || !(await this.#isBare())) return;
    const advice = 'Mount it. If its videos are lost for good, create an empty folder "recordings" in it.';
    throw new StorageUnavailableError('failed', `The video storage failed: its folder is missing or empty. ${advice}`);
  }

  /** The folder of drafts does not count: a start before the first mount may have created it. */
  #isBare(): Promise<boolean> {
    return readdir(this.path).then((entries) => !entries.some(isStorageFolder), isAbsent);
  }
}

/**
 * Stores files below `root`: published ones as `recordings/ab/<uuid>.mp4`, drafts under `.partial`. Several instances may share the
 * root.
 */
export function fileStorage(rootPath: string, roots?: KnownRoots): Storage {
  const root = new StorageRoot(rootPath, join(rootPath, DRAFT_FOLDER), roots);
  const drafts = {
    path: root.draftPath,
    space: new DiskSpace(root.draftPath),
    within: <T>(work: () => Promise<T>) => root.within(work),
    async publish(path: string, name: string) {
      await publishFile(path, join(rootPath, name));
      await root.remember();
    },
  } satisfies DraftFolder;
  return {
    ...draftCalls(drafts),
    stat: (name) => statFile(root, name),
    read: (name, range) => readFile(rootPath, name, range),
    delete: async (name) => {
      await deleteFile(rootPath, name);
      return { versionsLeft: false };
    },
    list: (folder, onUnreadable) => listFiles(root, folder, onUnreadable),
    check: () => checkFiles(root),
    sweep: (olderThanMs) => sweepDrafts(root.draftPath, olderThanMs),
    close: () => undefined,
  };
}

/** Removes drafts that were not touched for `olderThanMs`, and nothing of other programs. Returns how many were removed. */
export async function sweepDrafts(draftPath: string, olderThanMs: number): Promise<number> {
  let removed = 0;
  for (const entry of (await entriesOf(draftPath)).filter(isDraftOrProbe)) {
    const path = join(draftPath, entry);
    if (Date.now() - (await newestChange(path)) < olderThanMs) continue;
    await rm(path, { recursive: true, force: true }).catch(absentAs(undefined));
    removed += 1;
  }
  return removed;
}

const PROBE = '.probe-';

const isDraftOrProbe = (entry: string): boolean => entry.startsWith(PROBE) || isDraftFolder(entry);

/** Renames a durable file to its final path, and makes the new name durable as well. */
async function publishFile(from: string, to: string): Promise<void> {
  const folder = dirname(to);
  const firstCreated = await moveInto(folder, from, to);
  // Other files in the folder of this name belong to a late owner, which must not publish them.
  const removed = rmdir(dirname(from)).catch(() => rm(dirname(from), { recursive: true, force: true }));
  await Promise.all([syncFolder(folder), removed]);
  if (firstCreated === undefined) return;
  for (let created = folder; created.length >= firstCreated.length; created = dirname(created))
    await syncFolder(dirname(created));
}

/** Creates the folder if it is missing, and returns the first folder that had to be created. */
async function moveInto(folder: string, from: string, to: string): Promise<string | undefined> {
  try {
    await move(from, to);
    return undefined;
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  // No folder is created if the file is missing too, as with a mount that has disappeared.
  await access(from);
  const firstCreated = await makeFolder(folder);
  await move(from, to);
  return firstCreated;
}

/** A folder of the root may be on another disk than the drafts: the file is then copied, and appears as a whole too. */
async function move(from: string, to: string): Promise<void> {
  try {
    return await rename(from, to);
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error;
  }
  const copy = join(dirname(to), `.${basename(to)}.copy`);
  try {
    await copyFile(from, copy);
    await syncFile(copy);
    await rename(copy, to);
  } catch (error) {
    await rm(copy, { force: true });
    throw error;
  }
}

async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r+');
  try {
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

/** What file systems answer that cannot make a folder durable, such as SMB: they log such changes themselves, or not at all. */
const NOT_SYNCED = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EBADF', 'EISDIR', 'EPERM', 'EACCES']);

let hasWarned = false;

/** Without this a power failure may undo that a file was created or renamed. */
async function syncFolder(path: string): Promise<void> {
  try {
    const handle = await open(path, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!NOT_SYNCED.has(errorCode(error) ?? '')) throw error;
    if (hasWarned || process.platform === 'win32') return;
    hasWarned = true;
    new Logger('Storage').warn(
      `the file system of the video storage cannot make a folder durable (${errorCode(error)}): a power failure may lose the newest files`,
    );
  }
}

async function statFile(root: StorageRoot, name: string): Promise<StoredFile | undefined> {
  const found = await statAt(root, safeName(name));
  if (found === undefined) await root.expectMount();
  return found;
}

async function readFile(root: string, name: string, range: ByteRange = { start: 0 }): Promise<Readable> {
  const handle = await open(join(root, safeName(name))).catch(async (error: unknown) => {
    throw await absence(root, name, error);
  });
  const stream = handle.createReadStream({ ...range, highWaterMark: 256 * 1024 });
  // The first bytes are read before a response begins, so that a failing disk can still be reported.
  await once(stream, 'readable').catch((error: unknown) => {
    throw fileFailure(error, name);
  });
  return stream;
}

async function deleteFile(root: string, name: string): Promise<void> {
  const path = join(root, safeName(name));
  await unlink(path).catch(async (error: unknown) => ifNotStored(await absence(root, name, error)));
}

type OnUnreadable = (error: UnreadableError) => void;

async function* listFiles(root: StorageRoot, folder: string, onUnreadable?: OnUnreadable): AsyncGenerator<StoredFile> {
  const report = (error: UnreadableError): void => {
    if (onUnreadable === undefined) throw error;
    onUnreadable(error);
  };
  for (const entry of await readdir(join(root.path, safeFolder(folder))).catch(absentAs<string[]>([], folder))) {
    const place = `${folder}/${entry}`;
    const inside = isSpreadFolder(entry) ? ourEntries(root, place) : foreignEntries(root, place);
    yield* filesOf(root, place, (await inside.catch(ifUnreadable(report))) ?? [], report);
  }
  // If the mount disappeared meanwhile, the list is not complete.
  await root.expectMount();
}

async function* filesOf(
  root: StorageRoot,
  folder: string,
  entries: readonly string[],
  onUnreadable: OnUnreadable,
): AsyncGenerator<StoredFile> {
  for (const entry of entries) {
    const name = `${folder}/${entry}`;
    if (!isStorageName(name)) continue;
    const found = await statAt(root, name).catch(ifUnreadable(onUnreadable));
    if (found !== undefined) yield found;
  }
}

/** A file or a broken link in the place of a folder of ours cannot be read. */
const ourEntries = (root: StorageRoot, place: string): Promise<string[]> =>
  readdir(join(root.path, place)).catch((error: unknown) => {
    throw fileFailure(error, place);
  });

/** Folders of other programs, such as `lost+found`, are not entered; one that cannot be read is named. */
async function foreignEntries(root: StorageRoot, place: string): Promise<string[]> {
  await opendir(join(root.path, place)).then((folder) => folder.close(), absentAs<void>(undefined, place));
  return [];
}

const ifUnreadable =
  (onUnreadable: OnUnreadable) =>
  (error: unknown): undefined => {
    if (!(error instanceof UnreadableError)) throw error;
    onUnreadable(error);
  };

async function statAt(root: StorageRoot, name: string): Promise<StoredFile | undefined> {
  const found = await stat(join(root.path, name)).catch(absentAs(undefined, name));
  return found?.isFile() === true ? { name, size: found.size, modifiedAt: found.mtime } : undefined;
}

async function checkFiles(root: StorageRoot): Promise<StorageHealth> {
  const probe = join(root.draftPath, `${PROBE}${randomBytes(6).toString('hex')}`);
  try {
    const handle = await root.within(() => open(probe, 'wx', PRIVATE_FILE));
    try {
      await handle.write('probe');
      await handle.sync();
    } finally {
      await handle.close();
      await unlink(probe);
    }
    return { writable: true };
  } catch (error) {
    const failure = fileFailure(error);
    // The database knows which folders had files: without it nobody knows whether this one is missing.
    if (!isStorageError(failure)) throw failure;
    return { writable: false, reason: sentenceOf(failure) };
  }
}

/** The file has a row, so its folder existed: a missing folder means a missing mount. */
async function absence(root: string, name: string, error: unknown): Promise<unknown> {
  if (!isAbsent(error)) return fileFailure(error, name);
  const [folder = ''] = name.split('/');
  const hasFolder = await stat(join(root, folder)).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return hasFolder ? new NotStoredError(name) : fileFailure(error);
}

/** For `catch`: the given value if the file or folder is absent; any other error is a failure of the storage. */
const absentAs =
  <T>(absent: T, place?: string) =>
  (error: unknown): T => {
    if (isAbsent(error)) return absent;
    throw fileFailure(error, place);
  };

const entriesOf = (path: string): Promise<string[]> => readdir(path).catch(absentAs<string[]>([]));

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
