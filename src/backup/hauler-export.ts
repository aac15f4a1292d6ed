import { createHash } from 'node:crypto';
import type { CommandEnv } from '../config/command-env.js';
import { readCommandEnv } from '../config/command-env.js';
import type { Pool } from '../database/pool.js';
import { openStorage } from '../storage/open-storage.js';
import type { Storage } from '../storage/storage.js';
import type { ArchivedHauler, Manifest } from './archive-format.js';
import { archivePlace } from './archive-place.js';
import { BackupError } from './backup-error.js';
import { requiredKey, withDatabase } from './command-database.js';
import type { CommandContext, CommandResult } from './commands.js';
import { createBackup, videoPages } from './create-backup.js';
import { NameList, withLost } from './hauler-files.js';
import { existing, haulerId, lockHauler, withHauler } from './hauler-lock.js';
import { countRows, deleteMove, HAULER_TABLES, storeExported } from './hauler-moves.repository.js';
import { count } from './schema-rules.js';

const SNAPSHOT = { transaction_isolation: 'repeatable read', transaction_read_only: 'on' };

export interface ExportOptions {
  readonly id: string;
  readonly to: string;
  readonly dryRun?: boolean;
}

/** A storage must not be shared: the release at the source deletes the files. */
export const storageFingerprint = (url: string): string => createHash('sha256').update(url).digest('hex').slice(0, 32);

/** Locks a hauler and writes an archive of it. It stays locked until `unlock` or `release`, unless the export fails. */
export async function exportHauler(options: ExportOptions, context: CommandContext): Promise<CommandResult> {
  const env = readCommandEnv(undefined, context.source);
  const id = haulerId(options.id);
  const secretsKey = requiredKey(env);
  const place = await archivePlace(options.to, '--to');
  try {
    return await withDatabase(env, (databaseUrl) =>
      withHauler(databaseUrl, id, async (pool) => {
        const { name, state } = await existing(pool, id);
        if (state === 'moved') throw new BackupError(`the hauler ${id} has moved from here, and its data is deleted`);
        const storage = await openStorage(env.STORAGE_URL);
        const hauler = { id, name, cell: env.CELL ?? null, storage: storageFingerprint(env.STORAGE_URL) };
        try {
          if (options.dryRun === true) return await examined(pool, hauler, storage);
          return await locked(pool, state === 'locked', hauler.id, context, async () => {
            const manifest = await snapshot(pool, async (session) => {
              let written: Manifest | undefined;
              const chunks = async function* (): AsyncGenerator<Buffer> {
                const { progress } = context;
                written = yield* createBackup({ session, secretsKey, progress, selection: { hauler, storage } });
              };
              await place.write(chunks(), context.signal);
              if (written === undefined) throw new TypeError('the archive has no manifest');
              return written;
            });
            return exported(options.to, env, manifest);
          });
        } finally {
          storage.close();
        }
      }),
    );
  } finally {
    place.close();
  }
}

/** After a failure the hauler is in use again, unless it was locked before. */
async function locked<T>(
  pool: Pool,
  wasLocked: boolean,
  id: string,
  context: CommandContext,
  work: () => Promise<T>,
): Promise<T> {
  try {
    await lockHauler(pool, id, context);
    const result = await work();
    await storeExported(pool, id);
    return result;
  } catch (error) {
    if (!wasLocked) await deleteMove(pool, id);
    throw error;
  }
}

const snapshot = <T>(
  pool: Pool,
  work: (session: Parameters<Parameters<Pool['use']>[0]>[0]) => Promise<T>,
): Promise<T> => pool.transaction(work, { attempts: 1, settings: SNAPSHOT });

async function examined(pool: Pool, hauler: Omit<ArchivedHauler, 'files'>, storage: Storage): Promise<CommandResult> {
  return snapshot(pool, async (session) => {
    const rows: Record<string, number> = {};
    for (const table of HAULER_TABLES) rows[table.table] = await countRows(session, table, hauler.id);
    const lost = new NameList();
    let [files, bytes] = [0, 0];
    for await (const page of videoPages(session, hauler.id)) {
      for (const video of await withLost(storage, page)) {
        files += 1;
        bytes += video.size;
        if (video.lost === true) lost.add(video.name);
      }
    }
    const total = Object.values(rows).reduce((sum, each) => sum + each, 0);
    return {
      sentence: `would export the hauler ${hauler.name}: ${count(total, 'row')} and ${count(files, 'file')} (${megabytes(bytes)})${lostSentence(lost.count, lost.names)}; nothing is locked or written`,
      details: {
        hauler: hauler.id,
        dryRun: true,
        rows,
        files,
        totalBytes: bytes,
        lost: lost.count,
        lostNames: lost.names,
      },
    };
  });
}

function exported(to: string, { CELL }: CommandEnv, { hauler, tables, videos }: Manifest): CommandResult {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const { lost, lostNames } = hauler?.files ?? { lost: 0, lostNames: [] };
  const here = CELL === undefined ? 'here' : `in cell ${CELL}`;
  return {
    sentence: `wrote ${to}: ${count(rows, 'row')} and ${count(videos.files, 'file')} (${megabytes(videos.totalBytes)})${lostSentence(lost, lostNames)}. The hauler ${hauler?.name} is locked ${here}: import the archive into the other cell, then hauler release here; hauler unlock undoes the export`,
    details: {
      hauler: hauler?.id,
      rows,
      files: videos.files,
      totalBytes: videos.totalBytes,
      lost,
      lostNames,
    },
  };
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

export const lostSentence = (lost: number, names: readonly string[]): string =>
  lost === 0
    ? ''
    : `; ${count(lost, 'file')} ${lost === 1 ? 'is' : 'are'} lost in the storage of the source (${names.slice(0, 5).join(', ')}${lost > 5 ? ' and more' : ''})`;
