import { serviceVersion } from '../config/version.js';
import type { Session } from '../database/session.js';
import { appliedMigrations } from '../database/schema.repository.js';
import type { Sql } from '../database/sql.js';
import { referenceInventories } from '../reference-partner/vision/stored-videos.repository.js';
import type { Storage } from '../storage/storage.js';
import type { Inventory } from '../storage/inventory.repository.js';
import { recordingInventory } from '../vision/recordings/recordings.repository.js';
import {
  type ArchivedTable,
  type ArchivedVideo,
  fingerprintOf,
  DATABASE_FORMAT,
  HAULER_FORMAT,
  type HaulerOrigin,
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
import { packFiles, withLost } from './hauler-files.js';
import { copyOutOfHauler, HAULER_TABLES } from './hauler-moves.repository.js';
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
  /** One hauler, with the contents of its files; otherwise the whole database, with a list of the files. */
  readonly selection?: HaulerSelection;
}

export interface HaulerSelection {
  readonly hauler: HaulerOrigin;
  readonly storage: Storage;
}

const VIDEOS_PER_QUERY = 1000;

/** Yields the bytes of an archive of the database, and returns its manifest. */
export async function* createBackup(input: BackupInput): AsyncGenerator<Buffer, Manifest> {
  const { session, secretsKey, selection } = input;
  const [{ version, now }, migrations] = [await databaseState(session), await appliedMigrations(session)];
  if (migrations.length === 0)
    throw new BackupError('the database has no tables of haulbridge: check DATABASE_URL or DATA_DIR');
  const formatVersion = selection === undefined ? DATABASE_FORMAT : HAULER_FORMAT;
  yield* tarEntry({ name: MARK_ENTRY, content: markOf(formatVersion) });
  const tables: ArchivedTable[] = [];
  for (const [shape, copySql] of await streamsOf(input)) tables.push(yield* packTable(shape, copySql, input));
  // A file that is lost in the first list is lost in the second one.
  const lost = new Set<string>();
  const again: Mark = (page) => page.map((video) => (lost.has(video.name) ? { ...video, lost: true } : video));
  const videos = yield* packVideos(input, lost);
  const files = selection && (yield* packFiles(selection.storage, videosOf(input, again), input.progress));
  const manifest: Manifest = {
    formatVersion,
    serviceVersion: serviceVersion(),
    createdAt: now,
    databaseVersion: version,
    migrations,
    secretsKeyFingerprint: fingerprintOf(secretsKey),
    tables,
    // After the rows: a sequence is never behind the rows of the snapshot. Those of another cell are its own.
    sequences: selection === undefined ? await usedSequences(session) : [],
    videos,
    ...(selection === undefined || files === undefined ? {} : { hauler: { ...selection.hauler, files } }),
  };
  const content = Buffer.from(`${JSON.stringify(manifest, undefined, 1)}\n`);
  yield* tarEntry({ name: MANIFEST_ENTRY, content });
  yield* tarEntry({ name: MANIFEST_SUM_ENTRY, content: Buffer.from(sumLine(sha256Of(content))) });
  yield TAR_END;
  return manifest;
}

/** The tables in the order of the archive, each with its statement. */
async function streamsOf({ session, selection }: BackupInput): Promise<(readonly [TableShape, string])[]> {
  const shapes = await tableShapes(session);
  if (selection === undefined) return shapes.map((shape) => [shape, copyOutSql(shape)]);
  return HAULER_TABLES.map((table) => {
    const shape = shapes.find(({ name }) => name === table.table);
    if (shape === undefined) throw new BackupError(`the database has no table ${table.table}: run the migrations`);
    return [shape, copyOutOfHauler(shape, table, selection.hauler.id)];
  });
}

async function* packTable(
  shape: TableShape,
  copySql: string,
  { session, progress }: BackupInput,
): AsyncGenerator<Buffer, ArchivedTable> {
  const sum = new RowSum();
  async function* summed(): AsyncGenerator<Buffer> {
    for await (const chunk of session.copyOut(copySql)) {
      sum.update(chunk);
      progress.report(`${shape.name}: ${sum.rows} rows`);
      yield chunk;
    }
  }
  const stored = yield* packStream(tableFolder(shape.name), summed());
  return { ...shape, ...stored, rows: sum.rows, rowsSum: sum.digest() };
}

async function* packVideos(input: BackupInput, lost: Set<string>): AsyncGenerator<Buffer, VideosSummary> {
  let [files, totalBytes] = [0, 0];
  const mark: Mark = async (page) => {
    if (input.selection === undefined) return page;
    const marked = await withLost(input.selection.storage, page);
    for (const video of marked) if (video.lost === true) lost.add(video.name);
    return marked;
  };
  async function* lines(): AsyncGenerator<Buffer> {
    for await (const video of videosOf(input, mark)) {
      files += 1;
      totalBytes += video.size;
      yield Buffer.from(`${JSON.stringify(video)}\n`);
    }
  }
  const stored = yield* packStream(VIDEOS_FOLDER, lines());
  return { ...stored, files, totalBytes };
}

type Mark = (videos: ArchivedVideo[]) => ArchivedVideo[] | Promise<ArchivedVideo[]>;

/** The rows are those of one snapshot, so that each list is the same. */
async function* videosOf({ session, selection }: BackupInput, mark: Mark): AsyncGenerator<ArchivedVideo> {
  for await (const page of videoPages(session, selection?.hauler.id)) yield* await mark(page);
}

/** Every table with files. */
export const inventoriesOf = (database: Sql): Inventory[] => [
  ...referenceInventories(database),
  recordingInventory(database),
];

/** The videos of a hauler, or all. */
export async function* videoPages(database: Sql, owner?: string): AsyncGenerator<ArchivedVideo[]> {
  for (const inventory of inventoriesOf(database)) {
    let last: string | undefined;
    do {
      const page = await inventory.after(last, VIDEOS_PER_QUERY, owner);
      last = page.at(-1)?.id;
      if (page.length > 0) yield page.map(({ name, size, sha256 }) => ({ name, size, sha256 }));
    } while (last !== undefined);
  }
}
