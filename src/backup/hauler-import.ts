import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { CommandEnv } from '../config/command-env.js';
import { readCommandEnv, sourceSecretsKey } from '../config/command-env.js';
import type { Pool } from '../database/pool.js';
import { MIGRATIONS } from '../database/migrations.js';
import { SQLSTATE, sqlState } from '../database/postgres-errors.js';
import type { Session } from '../database/session.js';
import { openKey, sealKey } from '../partner-client/connection-keys.service.js';
import { openStorage } from '../storage/open-storage.js';
import { knownRoots } from '../storage/storage-roots.repository.js';
import type { Storage } from '../storage/storage.js';
import { whileAnnounced } from '../storage/storing-files.repository.js';
import { type ArchivedTable, fingerprintOf, type Manifest } from './archive-format.js';
import type { ArchivePlace } from './archive-place.js';
import { BackupError } from './backup-error.js';
import { requiredKey, withDatabase } from './command-database.js';
import { type CommandContext, type CommandResult, readArchive, withPlace } from './commands.js';
import { createPartition } from './empty-schema.repository.js';
import { inventoriesOf } from './create-backup.js';
import { lostSentence, storageFingerprint } from './hauler-export.js';
import { deleteFiles, NameList, storeFiles } from './hauler-files.js';
import { withHauler } from './hauler-lock.js';
import {
  copyOutOfHauler,
  deleteRows,
  findHaulerState,
  HAULER_TABLES,
  keyPrefixes,
  sealedRows,
  storeMove,
  storeSealed,
  tableWithRows,
} from './hauler-moves.repository.js';
import { routesOf } from './hauler-routes.js';
import { assertContent, copyTables } from './load-archive.js';
import { RowSum } from './row-sum.js';
import { assertSameShape, count, missingPartitions } from './schema-rules.js';
import { tableShapes } from './snapshot.repository.js';

/** Every instance then knows the keys of the hauler. */
const KNOWN_MS = 5_000;

export interface ImportOptions {
  readonly from: string;
  /** The hauler that the archive must have; any without it. */
  readonly id?: string;
  readonly dryRun?: boolean;
}

interface Import {
  readonly env: CommandEnv;
  readonly pool: Pool;
  readonly place: ArchivePlace;
  readonly manifest: Manifest;
  readonly keys: { readonly source: Buffer; readonly target: Buffer };
  readonly context: CommandContext;
}

/** Stores a hauler of another cell here: all of it, or nothing. */
export async function importHauler(options: ImportOptions, context: CommandContext): Promise<CommandResult> {
  const env = readCommandEnv(undefined, context.source);
  const target = requiredKey(env);
  const keys = { target, source: sourceSecretsKey(context.source) ?? target };
  return withPlace(options.from, '--from', async (place) => {
    const manifest = await readArchive(place, options.from, context.progress);
    assertImportable(manifest, keys.source, env);
    const id = manifest.hauler?.id ?? '';
    if (options.id !== undefined && options.id.toLowerCase() !== id)
      throw new BackupError(
        `it is the archive of the hauler ${id} (${manifest.hauler?.name}), and not of ${options.id}`,
      );
    return withDatabase(env, (databaseUrl) =>
      withHauler(databaseUrl, id, async (pool) => {
        const input = { env, pool, place, manifest, keys, context };
        await assertAbsent(pool, id);
        return options.dryRun === true ? tried(input) : stored(input, id);
      }),
    );
  });
}

function assertImportable(
  { hauler, migrations, serviceVersion, secretsKeyFingerprint }: Manifest,
  sourceKey: Buffer,
  env: CommandEnv,
): void {
  if (hauler === undefined)
    throw new BackupError('it is a backup of a whole database, and not the archive of a hauler: use restore');
  const known = MIGRATIONS.map(({ name }) => name);
  if (!isDeepStrictEqual(migrations, known)) {
    const newest = migrations.find((name) => !known.includes(name));
    const which = newest === undefined ? 'an older' : 'a newer';
    throw new BackupError(
      `the archive was written by version ${serviceVersion} with ${which} schema${newest === undefined ? '' : ` (${newest})`}: run the same version in both cells, and export again`,
    );
  }
  if (secretsKeyFingerprint !== fingerprintOf(sourceKey))
    throw new BackupError(
      'the keys of partners in the archive were sealed with another SECRETS_KEY: set SOURCE_SECRETS_KEY (or SOURCE_SECRETS_KEY_FILE) to that of the cell that exported it',
    );
  if (hauler.storage === storageFingerprint(env.STORAGE_URL))
    throw new BackupError(
      'both cells have the same STORAGE_URL, and the release at the source would delete the files: give each cell a folder or prefix of its own',
    );
}

/** What a release has left here gives way. */
async function assertAbsent(pool: Pool, id: string): Promise<void> {
  await pool.use(async (session) => {
    const found = await findHaulerState(session, id);
    if (found?.state === 'moved') return;
    if (found?.state === 'locked')
      throw new BackupError(
        `the hauler ${id} is locked here for its move: this is its source. Import it into the other cell`,
      );
    if (found?.state === 'imported')
      throw new BackupError(`the hauler ${id} was imported here already at ${found.since}`);
    if (found !== undefined) throw new BackupError(`there is a hauler ${id} here already (${found.name})`);
    const table = await tableWithRows(session, id);
    if (table !== undefined) throw new BackupError(`there are rows of the hauler ${id} here already, in ${table}`);
  });
}

/** The rows follow after all files, so that any file may be one of the import. */
const stored = (input: Import, id: string): Promise<CommandResult> =>
  whileAnnounced(input.pool, undefined, () => storedWhole(input, id));

async function storedWhole(input: Import, id: string): Promise<CommandResult> {
  const { env, pool, place, manifest, context } = input;
  const roots = knownRoots(pool);
  const storage = await openStorage(env.STORAGE_URL, { roots });
  try {
    await createPartitions(input);
    context.progress.begin('stores the files');
    let lost: NameList;
    try {
      lost = await storeFiles({ place, manifest, storage, progress: context.progress, claim: claimFor(pool, context) });
      context.progress.begin('stores the rows');
      await storeRows(input, async (session) => storeMove(session, id, 'imported', manifest.hauler?.cell ?? ''));
    } catch (error) {
      await removed(storage, input);
      throw error;
    }
    await delay(KNOWN_MS);
    const prefixes = await keyPrefixes(pool, id);
    return imported(input, lost, prefixes);
  } finally {
    storage.close();
  }
}

/** The failure of the import is the one to report; storage check finds what could not be deleted. */
async function removed(storage: Storage, { pool, place, manifest }: Import): Promise<void> {
  const isCommitted = await findHaulerState(pool, manifest.hauler?.id ?? '')
    .then((found) => found?.state === 'imported')
    .catch(() => true);
  if (!isCommitted) await deleteFiles(storage, place, manifest).catch(() => undefined);
}

/** A file may remain of an import that was killed. One that a row names is not touched. */
function claimFor(pool: Pool, { signal }: CommandContext) {
  return async (names: readonly string[]): Promise<void> => {
    signal.throwIfAborted();
    const ids = names.map((name) => name.slice(name.lastIndexOf('/') + 1, -'.mp4'.length));
    await pool.use(async (session) => {
      for (const inventory of inventoriesOf(session)) {
        const [taken] = await inventory.existing(ids.filter((_, i) => names[i]?.startsWith(`${inventory.folder}/`)));
        if (taken !== undefined) throw new BackupError(`there is a row ${taken} in ${inventory.table} here already`);
      }
    });
  };
}

/**
 * In transactions of their own, because a new partition locks its table for a moment. Where a table has a partition of the rest,
 * the rows go there, and the service moves them.
 */
async function createPartitions({ pool, manifest }: Import): Promise<void> {
  const shapes = await tableShapes(pool);
  const settings = { lock_timeout: '2s' };
  for (const table of manifest.tables) {
    if (table.partitions.some(({ bound }) => bound === 'DEFAULT')) continue;
    const shape = shapes.find(({ name }) => name === table.name);
    for (const partition of missingPartitions(table, shape))
      await pool
        .transaction((transaction) => createPartition(transaction, table.name, partition), { settings })
        .catch((error: unknown) => {
          if (sqlState(error) !== SQLSTATE.duplicateTable) throw error;
        });
  }
}

/** Everything but the files, and nothing remains. */
async function tried(input: Import): Promise<CommandResult> {
  const { manifest } = input;
  await storeRows(input, () => Promise.reject(new TriedSignal())).catch((error: unknown) => {
    if (!(error instanceof TriedSignal)) throw error;
  });
  const { lost, lostNames } = manifest.hauler?.files ?? { lost: 0, lostNames: [] };
  return {
    sentence: `could import the hauler ${manifest.hauler?.name}: ${totals(manifest)}${lostSentence(lost, lostNames)}; nothing was stored`,
    details: { ...detailsOf(manifest), dryRun: true, lost, lostNames },
  };
}

class TriedSignal extends Error {}

async function storeRows(input: Import, end: (session: Session) => Promise<void>): Promise<void> {
  const { pool, manifest } = input;
  const id = manifest.hauler?.id ?? '';
  try {
    await pool.transaction(
      async (session) => {
        assertSameShape(manifest.tables, await haulerShapesIn(session));
        // The remains of a release.
        await deleteRows(session, id, { keeps: false });
        await copyTables(session, { ...input, progress: input.context.progress });
        for (const table of manifest.tables) await compare(session, table, id);
        await seal(session, input);
        await end(session);
      },
      { attempts: 1 },
    );
  } catch (error) {
    if (sqlState(error) !== SQLSTATE.uniqueViolation) throw error;
    throw new BackupError(`the archive has ids that exist here already: ${(error as Error).message}`, { cause: error });
  }
}

const haulerShapesIn = async (session: Session) => {
  const shapes = await tableShapes(session);
  return shapes.filter(({ name }) => HAULER_TABLES.some(({ table }) => table === name));
};

/** Reads the rows that were stored, and compares their number and sum with those of the archive. */
async function compare(session: Session, table: ArchivedTable, id: string): Promise<void> {
  const found = HAULER_TABLES.find((each) => each.table === table.name);
  if (found === undefined) throw new BackupError(`the table ${table.name} does not move with a hauler`);
  const sum = new RowSum();
  for await (const chunk of session.copyOut(copyOutOfHauler(table, found, id))) sum.update(chunk);
  assertContent(table, sum, 'read from the stored table');
}

/** The keys of partners, from the key of the source to that of this cell. */
async function seal(session: Session, { manifest, keys }: Import): Promise<void> {
  for (const table of HAULER_TABLES.filter(({ sealed }) => sealed !== undefined))
    for (const row of await sealedRows(session, table, manifest.hauler?.id ?? '')) {
      const values = row.values.map((value) =>
        value === null || value === '' ? value : sealKey(keys.target, row.id, openKey(keys.source, row.id, value)),
      );
      await storeSealed(session, table, { ...row, values });
    }
}

function imported({ env, manifest }: Import, lost: NameList, prefixes: readonly string[]): CommandResult {
  const where = env.CELL === undefined ? 'here' : `in cell ${env.CELL}`;
  const routes = routesOf(prefixes, env.CELL);
  return {
    sentence: `imported the hauler ${manifest.hauler?.name} ${where}: ${totals(manifest)}${lostSentence(lost.count, lost.names)}. It is in use: route its keys here, then hauler release at the source. Until then hauler import --undo ${manifest.hauler?.id} removes it here\n${routes.text}`,
    details: { ...detailsOf(manifest), lost: lost.count, lostNames: lost.names, routes: routes.lines },
  };
}

const totals = ({ tables, videos }: Manifest): string =>
  `${count(
    tables.reduce((sum, { rows }) => sum + rows, 0),
    'row',
  )} and ${count(videos.files, 'file')}`;

const detailsOf = ({ hauler, tables, videos }: Manifest) => ({
  hauler: hauler?.id,
  from: hauler?.cell,
  rows: tables.reduce((sum, { rows }) => sum + rows, 0),
  files: videos.files,
});
