import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { DATABASE_USER, readPassword } from './cluster.js';
import { FolderInUse } from './folder-lock.js';
import { readPostmaster } from './postmaster.js';
import {
  DATABASE,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './start-embedded-postgres.js';

/** The service that holds the lock may still be starting: creating a data folder takes some seconds. */
const TIMEOUT_MS = 30_000;

/**
 * For commands that run beside the service: connects to the PostgreSQL that another haulbridge runs on `dataDir`, or starts
 * one. `stop` stops only a server that was started here.
 */
export async function joinEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  try {
    return await startEmbeddedPostgres(options);
  } catch (error) {
    if (!(error instanceof FolderInUse)) throw error;
    return { url: await runningDatabase(join(options.dataDir, 'postgres'), error), stop: () => Promise.resolve() };
  }
}

async function runningDatabase(folder: string, inUse: FolderInUse): Promise<string> {
  for (const end = Date.now() + TIMEOUT_MS; Date.now() < end; await delay(50)) {
    const server = readPostmaster(folder);
    if (server?.ready !== true) continue;
    const url = `postgresql://${DATABASE_USER}:${readPassword(folder)}@127.0.0.1:${server.port}/${DATABASE}`;
    if (await accepts(url)) return url;
  }
  throw inUse;
}

async function accepts(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2000 });
  // Without a listener a server that stops would end this process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end();
  }
}
