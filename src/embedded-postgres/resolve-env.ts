import { join } from 'node:path';
import type { Env, ResolvedEnv } from '../config/env.js';
import type { EmbeddedPostgres } from './start-embedded-postgres.js';
import type { SupervisorLog } from './server.js';
import { resolveSecrets } from '../config/secrets.js';

export interface Settled {
  readonly env: ResolvedEnv;
  /** Stops the embedded database; call it after all else, and also when the boot fails later. */
  readonly stop: () => Promise<void>;
}

export interface SettleOptions {
  /** Uses the embedded database of a service that runs on DATA_DIR already, as a command beside it does. */
  readonly join?: boolean;
}

/** PostgreSQL's own default; a handful of instances as they are by default need no more. */
const MIN_CONNECTIONS = 100;

/** Connections that one instance opens beside its pool: five for the hot path and three for synchronisations. */
const BESIDE_POOL = 8;

/** For commands beside the service, and for what PostgreSQL reserves. */
const SPARE_CONNECTIONS = 13;

/** How many connections the embedded database takes: all that the instances may open, and some to spare. */
export const connectionsOf = (env: Pick<Env, 'WEB_CONCURRENCY' | 'DATABASE_POOL'>): number =>
  Math.max(MIN_CONNECTIONS, env.WEB_CONCURRENCY * (env.DATABASE_POOL + BESIDE_POOL) + SPARE_CONNECTIONS);

const embeddedFolder = ({ DATA_DIR }: Env): string => join(DATA_DIR, 'postgres');

/** A notice for a forgotten DATABASE_URL: an empty value counts as unset. */
export const embeddedNotice = (env: Env): string =>
  `uses the embedded PostgreSQL under ${embeddedFolder(env)}, since DATABASE_URL is not set`;

/**
 * Starts the embedded database where no DATABASE_URL is set, and finds the secrets that belong to it.
 * Throws `StartupError`, whose message is made to be printed alone.
 */
export async function resolveEnv(env: Env, log: SupervisorLog, { join = false }: SettleOptions = {}): Promise<Settled> {
  let embedded: EmbeddedPostgres | undefined;
  if (env.EMBEDDED) {
    // Loaded only where it is used: a production boot has no need of it.
    const { joinEmbeddedPostgres } = await import('./join-embedded-postgres.js');
    const { startEmbeddedPostgres } = await import('./start-embedded-postgres.js');
    const options = { dataDir: env.DATA_DIR, log, maxConnections: connectionsOf(env) };
    embedded = await (join ? joinEmbeddedPostgres : startEmbeddedPostgres)(options);
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
