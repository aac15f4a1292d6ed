import { randomBytes } from 'node:crypto';
import { DataSource } from 'typeorm';
import { createDataSourceOptions } from '../../src/database/data-source.js';
import { held } from './held.js';
import { databaseUrl, onServer, TEST_SERVER_VARIABLE, type TestServer } from './test-server.js';

export interface TestDatabase {
  readonly url: string;
  /** A pool like the service's own; it is closed by `drop`. */
  connect(poolSize?: number): Promise<DataSource>;
  /** Also ends connections that a test has left open. */
  drop(): Promise<void>;
}

/** The server and the temporary folder of this test run. */
export function testServer(): TestServer {
  const text = process.env[TEST_SERVER_VARIABLE];
  if (text === undefined) throw new Error('start the tests with `npm test` or `npm run jest`');
  return JSON.parse(text) as TestServer;
}

/** A database of the caller's own: a clone of the migrated template, or an empty one. */
export async function createTestDatabase({ migrated = true } = {}): Promise<TestDatabase> {
  const { adminUrl, template } = testServer();
  const name = `${template}_${randomBytes(6).toString('hex')}`;
  await onServer(adminUrl, (client) =>
    client.query(`CREATE DATABASE ${name}${migrated ? ` TEMPLATE ${template}` : ''}`),
  );
  const url = databaseUrl(adminUrl, name);
  const pools: DataSource[] = [];
  return {
    url,
    async connect(poolSize = 10) {
      const pool = new DataSource(createDataSourceOptions({ DATABASE_URL: url, DATABASE_POOL: poolSize }));
      pools.push(pool);
      return pool.initialize();
    },
    drop: held(async () => {
      await Promise.all(pools.filter((pool) => pool.isInitialized).map((pool) => pool.destroy()));
      await onServer(adminUrl, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
    }),
  };
}
