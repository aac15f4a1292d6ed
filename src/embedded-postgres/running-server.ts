import { join } from 'node:path';
import { DATABASE_USER, passwordOf } from './data-folder.js';
import { runningPort } from './postmaster.js';
import { DATABASE } from './start-embedded-postgres.js';

/** The address of the server that a service runs on this DATA_DIR; undefined if none takes connections. */
export function runningServerUrl(dataDir: string): string | undefined {
  const folder = join(dataDir, 'postgres');
  const port = runningPort(folder);
  return port === undefined
    ? undefined
    : `postgresql://${DATABASE_USER}:${passwordOf(folder)}@127.0.0.1:${port}/${DATABASE}`;
}
