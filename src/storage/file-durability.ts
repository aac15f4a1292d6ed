import {
  access,
  type FileHandle,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  rmdir,
  stat,
  statfs,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { getSystemErrorMessage } from 'node:util';
import { errorCode, fullDisk, isErrorLike, StorageUnavailable } from './storage-errors.js';

/** A system error as the storage's own, told in words and without paths; any other error stays as it is. */
export function fileFailure(error: unknown): unknown {
  const code = errorCode(error);
  if (code === undefined || !isErrorLike(error) || !('errno' in error)) return error;
  const words = `${getSystemErrorMessage(Number(error.errno))} (${code})`;
  if (code === 'ENOSPC' || code === 'EDQUOT') return fullDisk(words, error);
  return new StorageUnavailable('failed', `The video storage failed: ${words}.`, error);
}

/** Writes all of the chunks; the system may take less at once, and does so just before a disk is full. */
export async function writeAll(handle: FileHandle, chunks: Buffer[], position: number): Promise<void> {
  const { bytesWritten } = await handle.writev(chunks, position);
  const total = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  if (bytesWritten === total) return;
  const rest = Buffer.concat(chunks);
  let done = bytesWritten;
  while (done < total) done += (await handle.write(rest, done, total - done, position + done)).bytesWritten;
}

/** Without this a power cut may forget that a file was created or renamed. */
async function syncFolder(path: string): Promise<void> {
  // Windows opens no folder as a file; its file systems log such changes themselves.
  const handle = await open(path, 'r').catch((error: unknown) => {
    if (process.platform === 'win32') return undefined;
    throw error;
  });
  try {
    await handle?.sync();
  } finally {
    await handle?.close();
  }
}

/** The folder is mostly there; if not, it is made, and the first one that was new is returned. */
async function moveInto(folder: string, from: string, to: string): Promise<string | undefined> {
  try {
    await rename(from, to);
    return undefined;
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  // Nothing is made where the bytes are gone too, as those of a mount that has gone.
  await access(from);
  const firstMade = await mkdir(folder, { recursive: true });
  await rename(from, to);
  return firstMade;
}

/**
 * Renames a file whose bytes are durable to its final path, and makes the new name durable as well; `tidy` runs beside
 * that, once the file has left its old place.
 */
export async function publishFile(from: string, to: string, tidy: () => Promise<void>): Promise<void> {
  const folder = dirname(to);
  const firstMade = await moveInto(folder, from, to);
  await Promise.all([syncFolder(folder), tidy()]);
  if (firstMade === undefined) return;
  for (let made = folder; made.length >= firstMade.length; made = dirname(made)) await syncFolder(dirname(made));
}

/** An empty folder in one that is there; what an earlier owner left in it goes. */
export async function emptyFolder(path: string): Promise<void> {
  const made = await mkdir(path).then(
    () => true,
    (error: unknown) => {
      if (errorCode(error) === 'EEXIST') return false;
      throw error;
    },
  );
  if (made) return;
  for (const entry of await readdir(path)) await rm(join(path, entry), { force: true });
}

/** Mostly the folder is empty by then, and this a single call. */
export async function dropFolder(path: string): Promise<void> {
  await rmdir(path).catch((error: unknown) =>
    errorCode(error) === 'ENOENT' ? undefined : rm(path, { recursive: true, force: true }),
  );
}

/** Replaces a small file at once. */
export async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
}

export const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

/** Bytes that are free where the path is. */
export async function roomAt(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}
