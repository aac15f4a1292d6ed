import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PRIVATE_FILE } from '../core/config/private-modes.js';
import { StartupError } from '../core/config/startup-error.js';

export interface FolderLock {
  readonly release: () => void;
}

/** Another process holds the lock. */
export class FolderInUseError extends StartupError {}

const SQLITE_BUSY = 5;

/** Two processes that start at the same moment collide briefly. Without a timeout both would fail. */
const TIMEOUT_MS = 250;

/**
 * Locks a folder for this process, or throws `StartupError` if another process holds the lock.
 * It is a lock of the kernel, acquired through SQLite because Node.js has no API for it. It ends with the process, so it
 * is never stale.
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
    throw new FolderInUseError(
      `Another haulbridge${holderOf(holder)} already runs on DATA_DIR ${folder}: stop it, or start this one with another DATA_DIR.`,
    );
  }
  const acquired = lock;
  writeFileSync(holder, `${process.pid}\n`, { mode: PRIVATE_FILE });
  return { release: () => acquired.close() };
}

function holderOf(file: string): string {
  try {
    return ` (process ${readFileSync(file, 'utf8').trim()})`;
  } catch {
    return '';
  }
}
