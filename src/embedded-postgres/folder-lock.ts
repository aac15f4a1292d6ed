import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartupError } from '../config/startup-error.js';

/** Another process of haulbridge holds the folder. */
export class FolderInUse extends StartupError {}

export interface FolderLock {
  readonly release: () => void;
}

const SQLITE_BUSY = 5;

/** Two processes that start at the same moment see each other's first step. Without a timeout both would refuse. */
const TIMEOUT_MS = 250;

/**
 * Holds a folder for this process, or refuses in one sentence.
 * The lock is the kernel's, taken through SQLite since Node has no call for it: it ends with the process, however that
 * ends, so that no lock is ever stale and a process id that was given out again fools nobody.
 */
export function lockFolder(folder: string): FolderLock {
  const holder = join(folder, 'lock.pid');
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(join(folder, 'lock'), { timeout: TIMEOUT_MS });
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    lock?.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) {
      throw new StartupError(`DATA_DIR ${folder} cannot be written by this user.`, { cause: error });
    }
    throw new FolderInUse(
      `Another haulbridge${holderOf(holder)} already runs on DATA_DIR ${folder}: stop it, or start this one with another DATA_DIR.`,
    );
  }
  const held = lock;
  writeFileSync(holder, `${process.pid}\n`);
  return { release: () => held.close() };
}

function holderOf(file: string): string {
  try {
    return ` (process ${readFileSync(file, 'utf8').trim()})`;
  } catch {
    return '';
  }
}
