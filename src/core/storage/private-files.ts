import { chmod, lstat, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Env } from '../config/env.js';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../config/private-modes.js';
import { parseStorageUrl } from '../config/storage-url.js';
import { isAbsent } from './storage-errors.js';
import { DRAFT_FOLDER } from './file-storage.js';

/** The permissions of all other users. */
const OTHERS = 0o077;
/** Set on folders such as /tmp that all users share. */
const STICKY = 0o1000;

/** What the service writes into DATA_DIR. `postgres` has the modes that PostgreSQL demands. */
const DATA_ENTRIES = ['secrets.json', 'service.json', 'demo-keys.json', 'lock', 'lock.pid', 'spool', 'scratch'];
/** What it writes into a file storage, whose root may be a mount with other files. */
const STORAGE_ENTRIES = ['recordings', 'reference-recordings', 'reference-clips', DRAFT_FOLDER];

/**
 * Call it before anything is written: from then on this process writes private files, whatever umask it was started with. The
 * folders of earlier versions become private, so that nobody reaches what is in them. Returns the paths that could not be changed.
 */
export async function protectFiles({
  DATA_DIR,
  STORAGE_URL,
}: Pick<Env, 'DATA_DIR' | 'STORAGE_URL'>): Promise<string[]> {
  process.umask(OTHERS);
  const storage = parseStorageUrl(STORAGE_URL);
  const failed: string[] = [];
  const entries = await readdir(DATA_DIR).catch(() => []);
  // A folder with files of others, such as /srv that was named by mistake, stays open: its machine may need it.
  if (entries.every((entry) => DATA_ENTRIES.includes(entry) || /^(postgres|videos|lost\+found)/.test(entry)))
    await restrict(await realpath(DATA_DIR).catch(() => DATA_DIR), failed);
  // The default storage is in DATA_DIR, and then its root has no other files.
  const videos = join(DATA_DIR, 'videos');
  await restrict(videos, failed);
  for (const name of DATA_ENTRIES) await restrict(join(DATA_DIR, name), failed);
  for (const root of new Set([videos, ...(storage.kind === 'files' ? [storage.root] : [])]))
    for (const name of STORAGE_ENTRIES) await restrict(join(root, name), failed);
  return failed;
}

/** A symbolic link is not followed. */
async function restrict(path: string, failed: string[]): Promise<void> {
  try {
    const found = await lstat(path);
    const allowed = found.isDirectory() ? PRIVATE_FOLDER : found.isFile() ? PRIVATE_FILE : undefined;
    const isOpen = (found.mode & OTHERS) !== 0 && (found.mode & STICKY) === 0;
    if (allowed !== undefined && isOpen) await chmod(path, found.mode & allowed);
  } catch (error) {
    if (!isAbsent(error)) failed.push(path);
  }
}
