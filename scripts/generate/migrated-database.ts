import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '../../src/core/database/database.js';
import { migrate } from '../../src/core/database/migrate.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/embedded-postgres/start-embedded-postgres.js';

const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined };

interface Started {
  readonly folder: string;
  readonly server: EmbeddedPostgres;
  readonly database: Database;
}

/** An embedded PostgreSQL with the tables of all migrations. It starts with the first use. */
export class MigratedDatabase {
  private started: Promise<Started> | undefined;

  async database(): Promise<Database> {
    return (await this.start()).database;
  }

  async url(): Promise<string> {
    return (await this.start()).server.url;
  }

  /** For files beside the database. They are deleted with it. */
  async folder(): Promise<string> {
    return (await this.start()).folder;
  }

  async close(): Promise<void> {
    if (this.started === undefined) return;
    const { folder, server, database } = await this.started;
    await database.onApplicationShutdown();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }

  private start(): Promise<Started> {
    return (this.started ??= startMigrated());
  }
}

async function startMigrated(): Promise<Started> {
  const folder = mkdtempSync(join(tmpdir(), 'haulbridge-generate-'));
  const server = await startEmbeddedPostgres({ dataDir: join(folder, 'server'), log: SILENT, durable: false });
  await migrate(server.url);
  return { folder, server, database: new Database({ DATABASE_URL: server.url, DATABASE_POOL: 2 }) };
}
