import { setTimeout as delay } from 'node:timers/promises';
import { StartupError } from '../config/startup-error.js';
import { FolderInUseError } from './folder-lock.js';
import { runningServerUrl } from './running-server.js';
import {
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
    return { url: await readyServer(options.dataDir), stop: () => Promise.resolve() };
  }
}

/** The service may just be starting. */
async function readyServer(dataDir: string): Promise<string> {
  for (const end = Date.now() + READY_TIMEOUT_MS; Date.now() < end; await delay(50)) {
    const url = runningServerUrl(dataDir);
    if (url !== undefined) return url;
  }
  throw new StartupError(`the PostgreSQL of the running service on DATA_DIR ${dataDir} does not become ready`);
}
