import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StartupError } from '../core/config/startup-error.js';

/** The user that PostgreSQL runs as; it refuses to run as root. */
export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/**
 * The user to run PostgreSQL as. Undefined for an ordinary user, who runs PostgreSQL directly. For root: the owner of the
 * existing data, else the user `postgres`, else `nobody`. `npm start` creates no user.
 */
export function chooseUser(dataFolder: string): SystemUser | undefined {
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

/** Whether a user may read a path and enter every folder above it. Checks the mode bits only. */
export function mayRead(user: SystemUser, path: string): boolean {
  if (!allows(user, path, statSync(path).isDirectory() ? 0o5 : 0o4)) return false;
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (!allows(user, folder, 0o1)) return false;
    if (folder === dirname(folder)) return true;
  }
}

function allows(user: SystemUser, path: string, wanted: number): boolean {
  const { mode, uid, gid } = statSync(path);
  const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0;
  return ((mode >> shift) & wanted) === wanted;
}

/** Options to spawn a program of PostgreSQL, and the path under which it reaches the data folder. */
export interface SpawnSetup {
  readonly folder: string;
  readonly options: { cwd: string; env: Record<string, string>; uid?: number; gid?: number };
}

/**
 * On Linux the program starts inside its folder and reaches it as `/proc/self/cwd`. Node.js enters the folder before it
 * switches to the other user. So the database works in a clone or a DATA_DIR of mode 700 that this user may not enter.
 * The environment has only the necessary variables, because that of the service contains secrets.
 */
export function spawnSetup(folder: string, user: SystemUser | undefined): SpawnSetup {
  return {
    folder: process.platform === 'linux' ? '/proc/self/cwd' : folder,
    options: { cwd: folder, env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }, ...user },
  };
}
