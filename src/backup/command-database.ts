import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandEnv } from '../config/command-env.js';
import { StartupError } from '../config/startup-error.js';
import { Pool } from '../database/pool.js';

const STATEMENT_TIMEOUT_MS = 60_000;

/** Runs `work` with a connection. The embedded database is used as it runs beside the service, or started for this time. */
export async function withDatabase<T>(
  { DATABASE_URL, DATA_DIR }: CommandEnv,
  work: (database: Pool) => Promise<T>,
): Promise<T> {
  if (DATABASE_URL !== undefined) return withPool(DATABASE_URL, work);
  if (!existsSync(join(DATA_DIR, 'postgres')))
    throw new StartupError(`there is no database: DATABASE_URL is not set, and DATA_DIR ${DATA_DIR} has none`);
  const { useEmbeddedPostgres } = await import('../embedded-postgres/use-embedded-postgres.js');
  const embedded = await useEmbeddedPostgres({
    dataDir: DATA_DIR,
    log: { debug: () => undefined, info: () => undefined, warn: () => undefined },
  });
  try {
    return await withPool(embedded.url, work);
  } finally {
    await embedded.stop();
  }
}

async function withPool<T>(databaseUrl: string, work: (database: Pool) => Promise<T>): Promise<T> {
  const pool = new Pool({
    databaseUrl,
    applicationName: 'haulbridge doctor',
    connections: 1,
    connectTimeoutMs: 10_000,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    transactionIdleMs: STATEMENT_TIMEOUT_MS,
    isPipelined: false,
    idleMs: 0,
  });
  try {
    return await work(pool);
  } finally {
    await pool.close();
  }
}
