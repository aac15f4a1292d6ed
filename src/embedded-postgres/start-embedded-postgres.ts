import { statfsSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import pg from 'pg';
import { findBinaries } from './binaries.js';
import { DATABASE_USER, lockFolder, openDataFolder } from './data-folder.js';
import { chooseUser } from './owner.js';
import { stopOrphan } from './postmaster.js';
import { Server, type ServerOptions, type SupervisorLog } from './server.js';
import { diskReserveBytes } from '../core/config/disk-reserve.js';
import { StartupError } from '../core/config/startup-error.js';
import { makeFolder } from '../core/storage/make-folder.js';

export interface EmbeddedPostgresOptions {
  readonly dataDir: string;
  readonly log: SupervisorLog;
  /** False only for data that may be lost, as in tests: no fsync. */
  readonly durable?: boolean;
  readonly maxConnections?: number;
}

export interface EmbeddedPostgres {
  /** URL of the database `haulbridge`, with user and password. */
  readonly url: string;
  readonly stop: () => Promise<void>;
}

export const DATABASE = 'haulbridge';

// Test data is short-lived. Autovacuum would visit each of the hundreds of databases of a test run.
const NOT_DURABLE = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', autovacuum_naptime: '1h' };

/**
 * The PostgreSQL of a service that has none: for trials, tests and small installations. Nothing but the start knows of it. Starts it
 * on `dataDir/postgres`, listening on a free port of 127.0.0.1 only, and keeps it running until `stop()`. It first stops the server of
 * a killed run. Throws `StartupError` if the operator has to act.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { dataDir, log, durable = true, maxConnections = 100 } = options;
  const folder = join(dataDir, 'postgres');
  await makeDataFolder(dataDir);
  const lock = lockFolder(dataDir);
  try {
    const orphan = await stopOrphan(folder);
    if (orphan !== undefined) log.info(`stopped the PostgreSQL of an earlier run (process ${orphan})`);
    const user = chooseUser(folder);
    const binaries = findBinaries(user);
    const password = await openDataFolder(folder, binaries, user, durable);
    const settings = {
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: String(maxConnections),
      // The service receives the errors of statements and expects some of them. Values must not be logged.
      log_min_messages: 'log',
      log_min_error_statement: 'panic',
      ...walLimits(dataDir),
      ...(durable ? {} : NOT_DURABLE),
    };
    const { server, port } = await startOnFreePort({ program: binaries.postgres, folder, user, settings, log });
    const address = `postgresql://${DATABASE_USER}:${password}@127.0.0.1:${port}`;
    await createDatabase(address).catch(async (error: unknown) => {
      await server.stop();
      throw error;
    });
    return {
      url: `${address}/${DATABASE}`,
      stop: async () => {
        await server.stop();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

const MIB = 1024 * 1024;
/** Two segments: the minimum that PostgreSQL accepts. */
const MIN_WAL_MIB = 32;
/** The defaults of PostgreSQL. */
const DEFAULT_WAL_MIB = { min: 80, max: 1024 };

/** The write-ahead log must fit into half of the space that videos leave free: PostgreSQL stops when its disk is full. */
function walLimits(dataDir: string): Readonly<Record<string, string>> {
  const { blocks, bsize } = statfsSync(dataDir);
  const half = Math.floor(diskReserveBytes(blocks * bsize) / 2 / MIB);
  const max = Math.min(Math.max(half, MIN_WAL_MIB), DEFAULT_WAL_MIB.max);
  return { max_wal_size: `${max}MB`, min_wal_size: `${Math.min(DEFAULT_WAL_MIB.min, max)}MB` };
}

async function makeDataFolder(dataDir: string): Promise<void> {
  try {
    await makeFolder(dataDir);
  } catch (error) {
    throw new StartupError(`DATA_DIR ${dataDir} cannot be created: ${(error as Error).message}.`, { cause: error });
  }
}

/** Another program may take the port between `freePort` and the start; then the next port is tried. */
async function startOnFreePort(options: Omit<ServerOptions, 'port'>): Promise<{ server: Server; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    const server = new Server({ ...options, port });
    try {
      await server.start();
      return { server, port };
    } catch (error) {
      if (attempt >= 5 || !(await isTaken(port))) throw error;
    }
  }
}

async function isTaken(port: number): Promise<boolean> {
  try {
    await freePort(port);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
  }
}

/** Rejects if the wanted port is not free. */
async function freePort(wanted = 0): Promise<number> {
  const probe = createServer().listen(wanted, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

async function createDatabase(address: string): Promise<void> {
  const client = new pg.Client({ connectionString: `${address}/postgres` });
  // Without a listener a server that stops would end this process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
  } finally {
    await client.end();
  }
}
