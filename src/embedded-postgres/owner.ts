import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StartupError } from '../config/startup-error.js';

/** The user that PostgreSQL runs as; it refuses to run as root. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Undefined for an ordinary user, who runs PostgreSQL himself. As root: whoever owns the data already, else `postgres`
 * where the machine has that user, else `nobody`, which every machine has. None is created: `npm start` changes nothing
 * in the machine's list of users.
 */
export function chooseOwner(dataFolder: string): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined;
  if (existsSync(dataFolder)) {
    const { uid, gid } = statSync(dataFolder);
    if (uid !== 0) return { uid, gid };
  }
  const users = readFileSync('/etc/passwd', 'utf8');
  for (const name of ['postgres', 'nobody']) {
    const [, uid, gid] = new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm').exec(users) ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new StartupError(
    'PostgreSQL does not run as root, and this machine has neither a user postgres nor nobody: start as an ordinary user, or set DATABASE_URL.',
  );
}

/** Whether a user may read a path: every folder above it can be entered, and it is readable itself. By mode bits alone. */
export function mayRead(owner: Owner, path: string): boolean {
  if (!allows(owner, path, statSync(path).isDirectory() ? 0o5 : 0o4)) return false;
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (!allows(owner, folder, 0o1)) return false;
    if (folder === dirname(folder)) return true;
  }
}

function allows(owner: Owner, path: string, wanted: number): boolean {
  const { mode, uid, gid } = statSync(path);
  const shift = uid === owner.uid ? 6 : gid === owner.gid ? 3 : 0;
  return ((mode >> shift) & wanted) === wanted;
}
