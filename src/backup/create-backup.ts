import { serviceVersion } from '../config/version.js';
import type { Querying } from '../database/sql.js';
import type { Session } from '../database/session.js';
import { appliedMigrations } from '../database/schema.repository.js';
import { referenceInventories } from '../reference-partner/vision/stored-videos.repository.js';
import type { Inventory } from '../storage/inventory.repository.js';
import { recordingInventory } from '../vision/recordings/recordings.repository.js';
import {
  type ArchivedTable,
  type ArchivedVideo,
  fingerprintOf,
  FORMAT_VERSION,
  type Manifest,
  MANIFEST_ENTRY,
  MANIFEST_SUM_ENTRY,
  MARK_ENTRY,
  markOf,
  sumLine,
  tableFolder,
  type TableShape,
  type VideosSummary,
  VIDEOS_FOLDER,
} from './archive-format.js';
import { sha256Of } from './archive-reader.js';
import { BackupError } from './backup-error.js';
import { packStream } from './pack-stream.js';
import type { Progress } from './progress.js';
import { RowSum } from './row-sum.js';
import { copyOutSql, databaseState, tableShapes, usedSequences } from './snapshot.repository.js';
import { TAR_END, tarEntry } from './tar.js';

export interface BackupInput {
  /** In a transaction with one snapshot, which only reads. */
  readonly session: Session;
  readonly secretsKey: Buffer;
  readonly progress: Progress;
}

const VIDEOS_PER_QUERY = 1000;

/** Yields the bytes of an archive of the database, and returns its manifest. */
export async function* createBackup(input: BackupInput): AsyncGenerator<Buffer, Manifest> {
  const { session, secretsKey } = input;
  const [{ version, now }, migrations] = [await databaseState(session), await appliedMigrations(session)];
  if (migrations.length === 0)
    throw new BackupError('the database has no tables of haulbridge: check DATABASE_URL or DATA_DIR');
  yield* tarEntry({ name: MARK_ENTRY, content: markOf() });
  const tables: ArchivedTable[] = [];
  for (const shape of await tableShapes(session)) tables.push(yield* packTable(shape, input));
  const videos = yield* packVideos(session);
  const manifest: Manifest = {
    formatVersion: FORMAT_VERSION,
    serviceVersion: serviceVersion(),
    createdAt: now,
    databaseVersion: version,
    migrations,
    secretsKeyFingerprint: fingerprintOf(secretsKey),
    tables,
    // After the rows: a sequence is never behind the rows of the snapshot.
    sequences: await usedSequences(session),
    videos,
  };
  const content = Buffer.from(`${JSON.stringify(manifest, undefined, 1)}\n`);
  yield* tarEntry({ name: MANIFEST_ENTRY, content });
  yield* tarEntry({ name: MANIFEST_SUM_ENTRY, content: Buffer.from(sumLine(sha256Of(content))) });
  yield TAR_END;
  return manifest;
}

async function* packTable(
  shape: TableShape,
  { session, progress }: BackupInput,
): AsyncGenerator<Buffer, ArchivedTable> {
  const sum = new RowSum();
  async function* summed(): AsyncGenerator<Buffer> {
    for await (const chunk of session.copyOut(copyOutSql(shape))) {
      sum.update(chunk);
      progress.report(`${shape.name}: ${sum.rows} rows`);
      yield chunk;
    }
  }
  const stored = yield* packStream(tableFolder(shape.name), summed());
  return { ...shape, ...stored, rows: sum.rows, rowsSum: sum.digest() };
}

async function* packVideos(database: Querying): AsyncGenerator<Buffer, VideosSummary> {
  let [files, totalBytes] = [0, 0];
  async function* lines(): AsyncGenerator<Buffer> {
    for (const inventory of [...referenceInventories(database), recordingInventory(database)]) {
      for await (const page of pagesOf(inventory)) {
        files += page.length;
        totalBytes += page.reduce((sum, { size }) => sum + size, 0);
        yield Buffer.from(page.map((video) => `${JSON.stringify(video)}\n`).join(''));
      }
    }
  }
  const stored = yield* packStream(VIDEOS_FOLDER, lines());
  return { ...stored, files, totalBytes };
}

async function* pagesOf(inventory: Inventory): AsyncGenerator<ArchivedVideo[]> {
  let last: string | undefined;
  do {
    const page = await inventory.after(last, VIDEOS_PER_QUERY);
    last = page.at(-1)?.id;
    if (page.length > 0) yield page.map(({ name, size, sha256 }) => ({ name, size, sha256 }));
  } while (last !== undefined);
}
