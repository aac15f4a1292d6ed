import { DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { Pool } from '../database/pool.js';
import { MIGRATIONS } from '../database/migrations.js';
import { thisRelease } from '../database/release.js';
import { recordRelease } from '../database/schema.repository.js';
import type { Session } from '../database/session.js';
import { driverOver } from '../database/typeorm-driver.js';
import { type ArchivedTable, type Manifest, tableFolder } from './archive-format.js';
import type { ArchivePlace } from './archive-place.js';
import { ArchiveStreams } from './archive-reader.js';
import { BackupError } from './backup-error.js';
import {
  addForeignKey,
  analyze,
  createIndex,
  createPartition,
  dropForeignKeys,
  dropIndexes,
  emptyTables,
  setSequence,
  switchTriggers,
  tablesWithTriggers,
} from './empty-schema.repository.js';
import type { Progress } from './progress.js';
import { RowSum } from './row-sum.js';
import { assertSameShape, missingPartitions } from './schema-rules.js';
import { copyInSql, copyOutSql, tableShapes } from './snapshot.repository.js';

/** A restore of a large database takes hours. */
const STATEMENT_TIMEOUT_MS = 7 * 24 * 3_600_000;

export const backupPool = (databaseUrl: string, connections = 1): Pool =>
  new Pool({
    databaseUrl,
    applicationName: 'haulbridge backup',
    connections,
    connectTimeoutMs: 10_000,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    transactionIdleMs: STATEMENT_TIMEOUT_MS,
    isPipelined: false,
    idleMs: 0,
  });

/** Runs `work` in one transaction: after a failure, also of this process, nothing of it remains. */
export async function inOneTransaction<T>(databaseUrl: string, work: (session: Session) => Promise<T>): Promise<T> {
  const pool = backupPool(databaseUrl);
  try {
    return await pool.transaction(work, { attempts: 1 });
  } finally {
    await pool.close();
  }
}

export interface LoadInput {
  readonly place: ArchivePlace;
  /** Of an archive that was checked. */
  readonly manifest: Manifest;
  readonly progress: Progress;
  /** Compare the tables with the archive once more, by reading them. */
  readonly rereads: boolean;
  /** Of the tables, where it is not the default one. */
  readonly schema?: string;
}

/** Fills the empty schema of a transaction with an archive, and brings it to the newest migration of this build. */
export async function loadArchive(session: Session, input: LoadInput): Promise<void> {
  const { manifest, progress, rereads, schema } = input;
  const isArchived = (name: string) => manifest.migrations.includes(name);
  await applyMigrations(session, schema, isArchived);
  const created = await tableShapes(session);
  assertSameShape(manifest.tables, created);
  const triggered = await tablesWithTriggers(session);
  for (const table of triggered) await switchTriggers(session, table, 'DISABLE');
  const [foreignKeys, indexes] = [await dropForeignKeys(session), await dropIndexes(session)];
  await emptyTables(session, manifest.tables);
  for (const table of manifest.tables) {
    const shape = created.find(({ name }) => name === table.name);
    for (const partition of missingPartitions(table, shape)) await createPartition(session, table.name, partition);
  }
  await copyTables(session, input);
  progress.begin('builds the indexes');
  for (const index of indexes) await createIndex(session, index);
  await analyze(session, manifest.tables);
  for (const key of foreignKeys) await addForeignKey(session, key);
  for (const table of triggered) await switchTriggers(session, table, 'ENABLE');
  for (const sequence of manifest.sequences) await setSequence(session, sequence);
  if (rereads) for (const table of manifest.tables) await reread(session, table, progress);
  const isUpgraded = await applyMigrations(session, schema, () => true);
  if (isUpgraded) await recordRelease(session, thisRelease());
}

/** Each migration records itself, in the order of their times. Returns whether there was one. */
async function applyMigrations(
  session: Session,
  schema: string | undefined,
  isWanted: (name: string) => boolean,
): Promise<boolean> {
  const dataSource = await new DataSource({
    type: 'postgres',
    driver: driverOver((text, values) => session.run(text, values)),
    migrations: MIGRATIONS,
    installExtensions: false,
    logging: false,
    // Where the list of migrations is; TypeORM does not follow the search path.
    ...(schema === undefined ? {} : { schema }),
  }).initialize();
  const executor = new MigrationExecutor(dataSource, dataSource.createQueryRunner());
  const wanted = (await executor.getPendingMigrations()).filter(({ name }) => isWanted(name));
  for (const migration of wanted) {
    const { instance } = migration;
    if (instance?.transaction === false)
      migration.instance = {
        ...instance,
        up: (runner) => instance.up(notConcurrently(runner)),
        down: () => Promise.resolve(),
      };
    await executor.executeMigration(migration);
  }
  return wanted.length > 0;
}

/** `CREATE INDEX CONCURRENTLY` does not run in a transaction; nobody else sees the tables of this one. */
const notConcurrently = (runner: QueryRunner): QueryRunner =>
  Object.create(runner, {
    query: {
      value: (sql: string, parameters?: unknown[]) => runner.query(sql.replace(/\bCONCURRENTLY\b/gi, ''), parameters),
    },
  }) as QueryRunner;

export async function copyTables(
  session: Session,
  { place, manifest, progress }: Omit<LoadInput, 'rereads'>,
): Promise<void> {
  const streams = new ArchiveStreams(place.read());
  try {
    for (const table of manifest.tables) {
      const sum = new RowSum();
      const rows = async function* (): AsyncGenerator<Buffer> {
        for await (const block of streams.read(tableFolder(table.name), table)) {
          sum.update(block);
          progress.report(`${table.name}: ${sum.rows} of ${table.rows} rows`);
          yield block;
        }
      };
      if (table.parts > 0) await session.copyIn(copyInSql(table), rows());
      assertContent(table, sum, 'read from the archive');
    }
  } finally {
    await streams.close();
  }
}

async function reread(session: Session, table: ArchivedTable, progress: Progress): Promise<void> {
  const sum = new RowSum();
  for await (const chunk of session.copyOut(copyOutSql(table))) {
    sum.update(chunk);
    progress.report(`compares ${table.name}: ${sum.rows} of ${table.rows} rows`);
  }
  assertContent(table, sum, 'read from the restored table');
}

export function assertContent({ name, rows, rowsSum }: ArchivedTable, found: RowSum, what: string): void {
  if (found.rows !== rows)
    throw new BackupError(`${name}: ${found.rows} rows were ${what}, and the backup has ${rows}`);
  if (found.digest() !== rowsSum)
    throw new BackupError(`${name}: the rows that were ${what} are not those of the backup`);
}
