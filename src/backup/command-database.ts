import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandEnv } from '../config/command-env.js';
import { BackupError } from './backup-error.js';

export function requiredKey({ secretsKey, EMBEDDED, DATA_DIR }: CommandEnv): Buffer {
  if (secretsKey !== undefined) return secretsKey;
  throw new BackupError(
    EMBEDDED
      ? `SECRETS_KEY is not set, and there is no ${join(DATA_DIR, 'secrets.json')}: set it to that of the service, or copy the file of the old DATA_DIR there`
      : 'SECRETS_KEY is not set: set it to that of the service',
  );
}

/**
 * Runs `work` with the address of the database. The embedded one is used as it runs beside the service, or started for this time.
 * `creates`: it may be created.
 */
export async function withDatabase<T>(
  { DATABASE_URL, DATA_DIR }: CommandEnv,
  work: (databaseUrl: string) => Promise<T>,
  { creates = false } = {},
): Promise<T> {
  if (DATABASE_URL !== undefined) return work(DATABASE_URL);
  if (!creates && !existsSync(join(DATA_DIR, 'postgres')))
    throw new BackupError(`there is no database: DATABASE_URL is not set, and DATA_DIR ${DATA_DIR} has none`);
  const { useEmbeddedPostgres } = await import('../embedded-postgres/use-embedded-postgres.js');
  const silent = () => undefined;
  const embedded = await useEmbeddedPostgres({ dataDir: DATA_DIR, log: { debug: silent, info: silent, warn: silent } });
  try {
    return await work(embedded.url);
  } finally {
    await embedded.stop();
  }
}
