import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PRIVATE_FILE } from '../core/config/private-modes.js';
import { StartupError } from '../core/config/startup-error.js';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Binaries } from './binaries.js';
import { spawnSetup, type SystemUser } from './owner.js';

interface FolderLock {
  readonly release: () => void;
}

/** Another process holds the lock. */
class FolderInUseError extends StartupError {}

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
    // SQLite opens a file of a read-only disk as well.
    writeFileSync(holder, `${process.pid}\n`, { mode: PRIVATE_FILE });
  } catch (error) {
    lock?.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) {
      throw new StartupError(`DATA_DIR ${folder} cannot be written: ${(error as Error).message}.`, { cause: error });
    }
    throw new FolderInUseError(
      `Another haulbridge${holderOf(holder)} already runs on DATA_DIR ${folder}: stop it, or start this one with another DATA_DIR.`,
    );
  }
  const acquired = lock;
  return { release: () => acquired.close() };
}

function holderOf(file: string): string {
  try {
    return ` (process ${readFileSync(file, 'utf8').trim()})`;
  } catch {
    return '';
  }
}

export const DATABASE_USER = 'haulbridge';

const PASSWORD_FILE = 'haulbridge.password';

/**
 * Creates the data folder if it is missing, and returns the password of its only user. The folder is created under another
 * name and renamed when it is complete, so that a killed first start leaves no partial folder.
 */
export async function openDataFolder(
  folder: string,
  binaries: Binaries,
  user: SystemUser | undefined,
  durable: boolean,
): Promise<string> {
  removeDrafts(folder);
  if (!existsSync(folder)) await createDataFolder(folder, binaries, user, durable);
  const version = read(folder, 'PG_VERSION');
  if (version !== binaries.major) {
    throw new StartupError(
      `The data in ${folder} was written by PostgreSQL ${version}, and this haulbridge contains PostgreSQL ${binaries.major}: move the folder away to begin with an empty database, or serve it with PostgreSQL ${version} and set DATABASE_URL.`,
    );
  }
  return passwordOf(folder);
}

/** The password of an existing data folder. */
export const passwordOf = (folder: string): string => read(folder, PASSWORD_FILE);

async function createDataFolder(
  folder: string,
  binaries: Binaries,
  user: SystemUser | undefined,
  durable: boolean,
): Promise<void> {
  const draft = `${folder}.new-${process.pid}`;
  const password = randomBytes(24).toString('base64url');
  const passwordFile = `${draft}.password`;
  try {
    mkdirSync(draft, { mode: 0o700 });
    writeFileSync(passwordFile, password, { mode: 0o600 });
    if (user !== undefined) for (const path of [draft, passwordFile]) chownSync(path, user.uid, user.gid);
    await initdb(draft, passwordFile, binaries, user, durable);
    renameSync(passwordFile, join(draft, PASSWORD_FILE));
    renameSync(draft, folder);
  } finally {
    removeDrafts(folder);
  }
}

/** The builtin collation C.UTF-8 gives the same order on every machine, independent of the installed locales. */
async function initdb(
  folder: string,
  passwordFile: string,
  binaries: Binaries,
  user: SystemUser | undefined,
  durable: boolean,
): Promise<void> {
  const setup = spawnSetup(folder, user);
  const password = openSync(passwordFile, 'r');
  try {
    const child = spawn(
      binaries.initdb,
      [
        `--pgdata=${setup.folder}`,
        `--username=${DATABASE_USER}`,
        `--pwfile=${process.platform === 'linux' ? '/proc/self/fd/3' : passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--locale-provider=builtin',
        '--locale=C.UTF-8',
        '--lc-messages=C',
        '--no-instructions',
        ...(durable ? [] : ['--no-sync']),
      ],
      { ...setup.options, stdio: ['ignore', 'ignore', 'pipe', password] },
    );
    await finished(child, 'initdb');
  } finally {
    closeSync(password);
  }
}

function finished(child: ChildProcess, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new StartupError(`DATA_DIR: ${name} ended with ${signal ?? code}: ${output.trim()}`));
    });
  });
}

function removeDrafts(folder: string): void {
  for (const entry of readdirSync(dirname(folder), { withFileTypes: true })) {
    const path = join(dirname(folder), entry.name);
    // The initdb of a killed start may still run for a moment and write files into the folder that is being removed.
    if (path.startsWith(`${folder}.new-`))
      rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}

function read(folder: string, file: string): string {
  try {
    return readFileSync(join(folder, file), 'utf8').trim();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const reason = code === 'ENOENT' ? `has no ${file}: it is no data folder of haulbridge` : `cannot be read: ${code}`;
    throw new StartupError(`${folder} ${reason}. Move it away, or set another DATA_DIR.`, { cause: error });
  }
}
