import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { createDataSourceOptions } from '../../src/database/data-source.js';
import { Database } from '../../src/database/database.js';
import { MIGRATIONS } from '../../src/database/migrations.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/embedded-postgres/start-embedded-postgres.js';

const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined };

interface Started {
  readonly folder: string;
  readonly server: EmbeddedPostgres;
  readonly dataSource: DataSource;
}

/** An embedded PostgreSQL with the tables of all migrations. It starts with the first use. */
export class MigratedDatabase {
  private started: Promise<Started> | undefined;

  async connection(): Promise<DataSource> {
    return (await this.start()).dataSource;
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
    const { folder, server, dataSource } = await this.started;
    await dataSource.destroy();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }

  private start(): Promise<Started> {
    return (this.started ??= startMigrated());
  }
}

/** TypeORM applies the migrations: the service itself refuses tables that its expected columns do not name yet. */
async function startMigrated(): Promise<Started> {
  const folder = mkdtempSync(join(tmpdir(), 'haulbridge-generate-'));
  const server = await startEmbeddedPostgres({ dataDir: join(folder, 'server'), log: SILENT, durable: false });
  const database = new Database({ DATABASE_URL: server.url, DATABASE_POOL: 2 });
  const dataSource = new DataSource({ ...createDataSourceOptions(database), migrations: [...MIGRATIONS] });
  await dataSource.initialize();
  await dataSource.runMigrations({ transaction: 'each' });
  return { folder, server, dataSource };
}
