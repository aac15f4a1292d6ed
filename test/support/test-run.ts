import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** The server of the run, as test files see it. The workers of Jest inherit the variables. */
export interface TestServer {
  /** Of a database in which other databases can be created. */
  readonly adminUrl: string;
  /** Of the migrated template; every database of this run begins with it. */
  readonly template: string;
  /** For files of the tests; removed at the end. */
  readonly folder: string;
  /** Whether its files are in memory: databases are deleted as soon as their tests end. */
  readonly isInMemory: boolean;
}

export const TEST_SERVER_VARIABLE = 'HAULBRIDGE_TEST_SERVER';

export const TEST_ADMIN_TOKEN = 'test-admin-token-0123456789';
export const TEST_SECRETS_KEY = '5a'.repeat(32);

/** The server and the temporary folder of this test run. */
export function testServer(): TestServer {
  const text = process.env[TEST_SERVER_VARIABLE];
  if (text === undefined) throw new Error('start the tests with `npm test` or `npm run jest`');
  return JSON.parse(text) as TestServer;
}

export async function onServer<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

export function databaseUrl(adminUrl: string, database: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  return url.href;
}

export interface CreatedDatabase {
  readonly url: string;
  /** Also ends connections that a test has left open. */
  readonly drop: () => Promise<void>;
}

export interface DatabaseOptions {
  readonly migrated?: boolean;
  /** Settings of its sessions that differ from those of PostgreSQL. */
  readonly defaults?: Readonly<Record<string, string>>;
}

/** A clone of the migrated template, or an empty database. */
export async function createDatabase({
  migrated = true,
  defaults = {},
}: DatabaseOptions = {}): Promise<CreatedDatabase> {
  const { adminUrl, template, isInMemory } = testServer();
  const name = `${template}_${randomBytes(6).toString('hex')}`;
  await onServer(adminUrl, async (client) => {
    await client.query(`CREATE DATABASE ${name}${migrated ? ` TEMPLATE ${template}` : ''}`);
    for (const [setting, value] of Object.entries(defaults)) {
      await client.query(`ALTER DATABASE ${name} SET ${setting} = '${value}'`);
    }
  });
  const drop = () => onServer(adminUrl, (client) => retire(client, name, isInMemory));
  return { url: databaseUrl(adminUrl, name), drop };
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
