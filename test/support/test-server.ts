import { existsSync, mkdtempSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockFolder } from '../../src/embedded-postgres/data-folder.js';
import { stopOrphan } from '../../src/embedded-postgres/postmaster.js';
import { startEmbeddedPostgres } from '../../src/embedded-postgres/start-embedded-postgres.js';
import { migrate } from '../../src/core/database/migrate.js';
import { databaseUrl, onServer, TEST_SERVER_VARIABLE, type TestServer } from './test-run.js';

const FOLDER_PREFIX = 'haulbridge-test-';

/** A file system in memory, on Linux. Each database has 700 files, which a disk takes a second to create. */
const MEMORY = '/dev/shm';
/** A run has some hundred MB of databases and of log at the same time. */
const MEMORY_BYTES = 3 * 1024 ** 3;

/** Starts a server of its own in a temporary folder, or uses the one of TEST_DATABASE_URL. */
export async function startTestServer(): Promise<{ readonly folder: string; stop(): Promise<void> }> {
  await removeAbandonedFolders();
  const folder = mkdtempSync(join(tmpdir(), FOLDER_PREFIX));
  const isInMemory = !process.env['TEST_DATABASE_URL'] && freeMemoryBytes() > MEMORY_BYTES;
  const folders = [folder, ...(isInMemory ? [mkdtempSync(join(MEMORY, FOLDER_PREFIX))] : [])];
  const locks = folders.map((each) => lockFolder(each));
  const own = process.env['TEST_DATABASE_URL'] ? undefined : await startOwn(folders);
  const adminUrl = process.env['TEST_DATABASE_URL'] ?? own?.url ?? '';
  const server: TestServer = { adminUrl, template: `haulbridge_test_${process.pid}`, folder, isInMemory };
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= end());
  const end = async () => {
    await (own === undefined ? dropDatabases(server) : own.stop());
    for (const each of folders) await remove(each);
    for (const lock of locks) lock.release();
  };
  try {
    await createTemplate(server);
  } catch (error) {
    await stop();
    throw error;
  }
  process.env[TEST_SERVER_VARIABLE] = JSON.stringify(server);
  return { folder, stop };
}

const freeMemoryBytes = (): number => {
  if (!existsSync(MEMORY)) return 0;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize;
};

async function startOwn(folders: readonly string[]) {
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined };
  try {
    const server = await startEmbeddedPostgres({
      dataDir: join(folders.at(-1) ?? '', 'server'),
      log,
      durable: false,
      maxConnections: 400,
    });
    await shortenPasswordChecks(server.url);
    return server;
  } catch (error) {
    for (const each of folders) await remove(each);
    throw error;
  }
}

/** A run opens thousands of connections. By default each derives the password through 4,096 rounds, on both sides. */
async function shortenPasswordChecks(url: string): Promise<void> {
  const { username, password } = new URL(url);
  await onServer(url, (client) =>
    client.query(`SET scram_iterations = 1; ALTER ROLE ${username} PASSWORD '${password}'`),
  );
}

async function createTemplate({ adminUrl, template }: TestServer): Promise<void> {
  await onServer(adminUrl, (client) => client.query(`CREATE DATABASE ${template}`));
  await migrate(databaseUrl(adminUrl, template));
}

async function dropDatabases({ adminUrl, template }: TestServer): Promise<void> {
  await onServer(adminUrl, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      'SELECT datname AS name FROM pg_database WHERE starts_with(datname, $1)',
      [template],
    );
    for (const { name } of rows) await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  });
}

/** Removes what runs that were killed have left. A folder younger than a minute may belong to a run that begins now. */
async function removeAbandonedFolders(): Promise<void> {
  for (const folder of [tmpdir(), MEMORY].flatMap(foldersIn)) {
    try {
      const { mtimeMs, uid } = statSync(folder);
      if (uid !== process.getuid?.() || Date.now() - mtimeMs < 60_000) continue;
      const lock = lockFolder(folder);
      await remove(folder);
      lock.release();
    } catch {
      // Held by a run that lives, or gone meanwhile.
    }
  }
}

const foldersIn = (place: string): string[] =>
  existsSync(place)
    ? readdirSync(place).flatMap((name) => (name.startsWith(FOLDER_PREFIX) ? [join(place, name)] : []))
    : [];

/** Removes the folder of a run, with the servers that killed tests have left in it. */
async function remove(folder: string): Promise<void> {
  for (const name of readdirSync(folder)) await stopOrphan(join(folder, name, 'postgres'));
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
