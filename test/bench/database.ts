import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../src/embedded-postgres/start-embedded-postgres.js';
import { migrate } from '../../src/core/database/migrate.js';
import { atEnd } from './cleanup.js';

export interface BenchDatabase {
  readonly url: string;
  /** Of the server's first process. */
  readonly pid: number;
  readonly client: pg.Client;
  /** For files of the benchmark; removed at its end. */
  readonly folder: string;
}

/** The embedded PostgreSQL as the service runs it, fsync on, in a folder of its own; migrated. */
export async function startDatabase(): Promise<BenchDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'haulbridge-bench-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  const log = { debug: () => undefined, info: () => undefined, warn: (message: string) => console.error(message) };
  const { url, stop } = await startEmbeddedPostgres({ dataDir: folder, log, maxConnections: 200 });
  atEnd(stop);
  await migrate(url);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  atEnd(() => client.end());
  const { rows } = await client.query<{ pid: string }>(
    `SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1) AS pid`,
  );
  return { url, pid: Number(rows[0]?.pid), client, folder };
}
