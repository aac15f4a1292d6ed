import type { Owner } from './owner.js';

/** How a program of PostgreSQL is spawned so that it finds `folder`, and the name by which it then calls that folder. */
export interface Place {
  readonly folder: string;
  readonly options: { cwd: string; env: Record<string, string>; uid?: number; gid?: number };
}

/**
 * On Linux a program is started inside its folder and calls it `/proc/self/cwd`. Node enters the folder before it drops
 * to the other user, so the database reaches its data also where that user may not enter the folders above: a clone or
 * a DATA_DIR of mode 700 needs no second home for the data.
 * The environment is empty but for what a program needs: it holds the service's secrets.
 */
export function placeOf(folder: string, owner: Owner | undefined): Place {
  return {
    folder: process.platform === 'linux' ? '/proc/self/cwd' : folder,
    options: { cwd: folder, env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }, ...owner },
  };
}
