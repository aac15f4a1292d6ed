import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PRIVATE_FOLDER } from '../config/private-modes.js';
import { errorCode } from './storage-errors.js';

/**
 * Creates a private folder and its missing parents. Returns the first one that had to be created. The option `recursive` of `mkdir`
 * does the same, but never ends where the system answers that a folder is not found in a parent that exists, as /proc does.
 */
export async function makeFolder(path: string): Promise<string | undefined> {
  try {
    return await makeOne(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' || dirname(path) === path) throw error;
  }
  const firstCreated = await makeFolder(dirname(path));
  const created = await makeOne(path);
  return firstCreated ?? created;
}

/** Returns undefined if the folder exists. */
async function makeOne(path: string): Promise<string | undefined> {
  try {
    await mkdir(path, { mode: PRIVATE_FOLDER });
    return path;
  } catch (error) {
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory() === true) return undefined;
    throw error;
  }
}
