import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { StartupError } from '../config/startup-error.js';
import { DATABASE_USER, passwordOf } from './data-folder.js';
import { FolderInUseError } from './folder-lock.js';
import { readPostmaster } from './postmaster.js';
import {
  DATABASE,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './start-embedded-postgres.js';

const READY_TIMEOUT_MS = 60_000;

/** For a command beside the service: uses the server that the service runs on this folder, or starts it until `stop()`. */
export async function useEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  try {
    return await startEmbeddedPostgres(options);
  } catch (error) {
    if (!(error instanceof FolderInUseError)) throw error;
    return { url: await runningServer(join(options.dataDir, 'postgres')), stop: () => Promise.resolve() };
  }
}

/** The service may just be starting. */
async function runningServer(folder: string): Promise<string> {
  for (const end = Date.now() + READY_TIMEOUT_MS; Date.now() < end; await delay(50)) {
    const postmaster = readPostmaster(folder);
    if (postmaster?.ready !== true) continue;
    return `postgresql://${DATABASE_USER}:${passwordOf(folder)}@127.0.0.1:${postmaster.port}/${DATABASE}`;
  }
  throw new StartupError(`the PostgreSQL of the running service on ${folder} does not become ready`);
}
