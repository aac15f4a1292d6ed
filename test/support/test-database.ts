import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { DataSource } from 'typeorm';
import { createDataSourceOptions } from '../../src/database/data-source.js';
import { Database } from '../../src/database/database.js';
import { held } from './held.js';
import { reportSecrets } from './secret-search.js';
import { databaseUrl, onServer, TEST_SERVER_VARIABLE, type TestServer } from './test-server.js';

export interface TestDatabase {
  readonly url: string;
  /** A pool like the service's own; it is closed by `drop`. */
  connect(poolSize?: number): Promise<DataSource>;
  /** Also ends connections that a test has left open. Fails if a secret is found in it, or in what its services wrote. */
  drop(): Promise<void>;
}

/** The server and the temporary folder of this test run. */
export function testServer(): TestServer {
  const text = process.env[TEST_SERVER_VARIABLE];
  if (text === undefined) throw new Error('start the tests with `npm test` or `npm run jest`');
  return JSON.parse(text) as TestServer;
}

/**
 * Ends the connections of a database, and deletes it where its files are in memory. Otherwise it is renamed, and its files
 * are deleted with the server at the end of the run: on some file systems, creating a database takes 500 ms instead of
 * 50 ms after many files were deleted.
 */
async function retire(client: pg.Client, name: string, isInMemory: boolean): Promise<void> {
  if (isInMemory) {
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    return;
  }
  const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name]);
  if (rowCount === 0) return;
  await client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
  await client.query('SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1', [name]);
  await client.query(`ALTER DATABASE ${name} RENAME TO ${name}_dropped`);
}

/** A database of the caller's own: a clone of the migrated template, or an empty one. */
export async function createTestDatabase({ migrated = true } = {}): Promise<TestDatabase> {
  const { adminUrl, template, isInMemory } = testServer();
  const name = `${template}_${randomBytes(6).toString('hex')}`;
  await onServer(adminUrl, (client) =>
    client.query(`CREATE DATABASE ${name}${migrated ? ` TEMPLATE ${template}` : ''}`),
  );
  const url = databaseUrl(adminUrl, name);
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
      await reportSecrets(url).finally(() => onServer(adminUrl, (client) => retire(client, name, isInMemory)));
    }),
  };
}
