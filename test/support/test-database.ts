import { DataSource } from 'typeorm';
import { createDataSourceOptions } from '../../src/database/data-source.js';
import { Database } from '../../src/database/database.js';
import { held } from './held.js';
import { reportSecrets } from './secret-search.js';
import { createDatabase } from './test-run.js';

export interface TestDatabase {
  readonly url: string;
  /** A pool like the service's own; it is closed by `drop`. */
  connect(poolSize?: number): Promise<DataSource>;
  /** Also ends connections that a test has left open. Fails if a secret is found in it, or in what its services wrote. */
  drop(): Promise<void>;
}

/** A database of the caller's own: a clone of the migrated template, or an empty one. */
export async function createTestDatabase(options: { migrated?: boolean } = {}): Promise<TestDatabase> {
  const { url, drop } = await createDatabase(options);
  const pools: DataSource[] = [];
  return {
    url,
    async connect(poolSize = 10) {
      const pool = new DataSource(
        createDataSourceOptions(new Database({ DATABASE_URL: url, DATABASE_POOL: poolSize })),
      );
      pools.push(pool);
      return pool.initialize();
    },
    drop: held(async () => {
      await Promise.all(pools.filter((pool) => pool.isInitialized).map((pool) => pool.destroy()));
      try {
        await reportSecrets(url);
      } finally {
        await drop();
      }
    }),
  };
}
