import type { Stats } from 'node:fs';
import { chmod, lstat, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Env } from '../config/env.js';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../config/private-modes.js';
import { parseStorageUrl } from '../config/storage-url.js';
import { DRAFT_FOLDER } from './storage-root.js';

/** The permissions of all other users. */
const OTHERS = 0o077;
/** Set on folders such as /tmp that all users share. */
const STICKY = 0o1000;

/** What the service writes into DATA_DIR. `postgres` has the modes that PostgreSQL demands. */
const DATA_ENTRIES = ['secrets.json', 'service.json', 'demo-keys.json', 'lock', 'lock.pid', 'spool', 'scratch'];
/** What it writes into a file storage, whose root may be a mount with other files. */
const STORAGE_ENTRIES = ['recordings', 'reference-recordings', 'reference-clips', DRAFT_FOLDER];

/** Paths that are examined at the same time. */
const CONCURRENCY = 16;

/**
 * Call it before anything is written: from then on this process writes private files, whatever umask it was started with.
 * Files and folders of earlier versions become private as well; a large storage takes a while. Returns the paths that
 * could not be changed.
 */
export async function protectFiles({
  DATA_DIR,
  STORAGE_URL,
}: Pick<Env, 'DATA_DIR' | 'STORAGE_URL'>): Promise<string[]> {
  process.umask(OTHERS);
  const storage = parseStorageUrl(STORAGE_URL);
  const failed: string[] = [];
  await restrict(await realpath(DATA_DIR).catch(() => DATA_DIR), failed);
  // The default storage is in DATA_DIR, and then its root has no other files.
  const videos = join(DATA_DIR, 'videos');
  await restrict(videos, failed);
  const roots = new Set([videos, ...(storage.kind === 'files' ? [storage.root] : [])]);
  const tops = [
    ...DATA_ENTRIES.map((name) => join(DATA_DIR, name)),
    ...[...roots].flatMap((root) => STORAGE_ENTRIES.map((name) => join(root, name))),
  ];
  // The folders first: nobody reaches what is in them from then on.
  for (const top of tops) await restrict(top, failed);
  for (const top of tops) await restrictContent(top, failed);
  return failed;
}

/** Returns the facts of the path; undefined if there is none. A symbolic link is not followed. */
async function restrict(path: string, failed: string[]): Promise<Stats | undefined> {
  try {
    const found = await lstat(path);
    const allowed = found.isDirectory() ? PRIVATE_FOLDER : found.isFile() ? PRIVATE_FILE : undefined;
    const isOpen = (found.mode & OTHERS) !== 0 && (found.mode & STICKY) === 0;
    if (allowed !== undefined && isOpen) await chmod(path, found.mode & allowed);
    return found;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') failed.push(path);
    return undefined;
  }
}

async function restrictContent(folder: string, failed: string[]): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (let i = 0; i < names.length; i += CONCURRENCY) {
    await Promise.all(
      names.slice(i, i + CONCURRENCY).map(async (name) => {
        const path = join(folder, name);
        if ((await restrict(path, failed))?.isDirectory() === true) await restrictContent(path, failed);
      }),
    );
  }
}
