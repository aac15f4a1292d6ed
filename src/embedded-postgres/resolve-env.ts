import { join } from 'node:path';
import type { Env, ResolvedEnv } from '../core/config/env.js';
import type { EmbeddedPostgres } from './start-embedded-postgres.js';
import type { SupervisorLog } from './server.js';
import { resolveSecrets } from '../core/config/secrets.js';

export interface ResolvedStart {
  readonly env: ResolvedEnv;
  /** Stops the embedded database. Call it last, also if the boot fails later. */
  readonly stop: () => Promise<void>;
}

/** The default of PostgreSQL, which suffices for a handful of default instances. */
const MIN_CONNECTIONS = 100;

/**
 * Connections that an instance opens in addition to `DATABASE_POOL`: eight for the hot path, three for synchronisations, one for
 * the exchange log.
 */
const OUTSIDE_POOL = 12;

/** For commands that run beside the service, and for connections that PostgreSQL reserves. */
const SPARE_CONNECTIONS = 13;

/** The `max_connections` of the embedded database: all connections that its instance may open, and some spare. */
export const connectionsOf = ({ DATABASE_POOL }: Pick<Env, 'DATABASE_POOL'>): number =>
  Math.max(MIN_CONNECTIONS, DATABASE_POOL + OUTSIDE_POOL + SPARE_CONNECTIONS);

const embeddedFolder = ({ DATA_DIR }: Env): string => join(DATA_DIR, 'postgres');

/** A log line in case DATABASE_URL was forgotten; an empty value counts as unset. */
export const embeddedNotice = (env: Env): string =>
  `uses the embedded PostgreSQL under ${embeddedFolder(env)}, since DATABASE_URL is not set`;

/**
 * Starts the embedded database if DATABASE_URL is not set, and reads or generates the secrets.
 * Throws `StartupError`; print its message without the stack.
 */
export async function resolveEnv(env: Env, log: SupervisorLog): Promise<ResolvedStart> {
  let embedded: EmbeddedPostgres | undefined;
  if (env.EMBEDDED) {
    // Loaded only when needed: a boot with DATABASE_URL does not use it.
    const { startEmbeddedPostgres } = await import('./start-embedded-postgres.js');
    const options = { dataDir: env.DATA_DIR, log, maxConnections: connectionsOf(env) };
    embedded = await startEmbeddedPostgres(options);
  }
  try {
    const url = embedded?.url ?? env.DATABASE_URL;
    if (url === undefined) throw new Error('readEnv gives either EMBEDDED or DATABASE_URL');
    return {
      env: { ...env, DATABASE_URL: url, ...resolveSecrets(env) },
      stop: async () => embedded?.stop(),
    };
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
}
