import { DataSource } from 'typeorm';
import { Database } from '../../src/core/database/database.js';
import { held } from './held.js';
import { reportSecrets } from './secret-search.js';
import { createDatabase } from './test-run.js';

export interface TestDatabase {
  readonly url: string;
  /** A pool apart from those of the service; it is closed by `drop`. */
  connect(poolSize?: number): Promise<DataSource>;
  /** The pools of a service; they are closed by `drop`. */
  open(connections?: number): Database;
  /** Also ends connections that a test has left open. Fails if a secret is found in it, or in what its services wrote. */
  drop(): Promise<void>;
}

/** A pool on a database, apart from those of the service. */
export const connectTo = (url: string, poolSize = 10): Promise<DataSource> =>
  new DataSource({
    type: 'postgres',
    url,
    poolSize,
    applicationName: 'test',
    installExtensions: false,
    // As those of the service, which a case finds by their port.
    extra: { keepAlive: true, keepAliveInitialDelayMillis: 60_000 },
  }).initialize();

/** A database of the caller's own: a clone of the migrated template, or an empty one. */
export async function createTestDatabase(options: { migrated?: boolean } = {}): Promise<TestDatabase> {
  const { url, drop } = await createDatabase(options);
  const pools: DataSource[] = [];
  const opened: Database[] = [];
  return {
    url,
    async connect(poolSize = 10) {
      const pool = await connectTo(url, poolSize);
      pools.push(pool);
      return pool;
    },
    open(connections = 10) {
      const opening = new Database({ DATABASE_URL: url, DATABASE_POOL: connections });
      opened.push(opening);
      return opening;
    },
    drop: held(async () => {
      await Promise.all(opened.map((each) => each.onApplicationShutdown()));
      await Promise.all(pools.filter((pool) => pool.isInitialized).map((pool) => pool.destroy()));
      try {
        await reportSecrets(url);
      } finally {
        await drop();
      }
    }),
  };
}
