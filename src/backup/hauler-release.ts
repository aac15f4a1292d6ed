import { readCommandEnv } from '../config/command-env.js';
import { CELL_NAME } from '../config/parse.js';
import type { Pool } from '../database/pool.js';
import { openStorage } from '../storage/open-storage.js';
import type { Storage } from '../storage/storage.js';
import { BackupError } from './backup-error.js';
import { withDatabase } from './command-database.js';
import type { CommandContext, CommandResult } from './commands.js';
import { videoPages } from './create-backup.js';
import { existing, haulerId, lockHauler, withHauler } from './hauler-lock.js';
import {
  deleteMove,
  deleteRows,
  type HaulerState,
  keyPrefixes,
  storedSince,
  storeMove,
} from './hauler-moves.repository.js';
import { routesOf } from './hauler-routes.js';
import { count } from './schema-rules.js';

type Work = (pool: Pool, hauler: HaulerState, storage: Storage) => Promise<CommandResult>;

function onHauler(text: string, { source }: CommandContext, work: Work): Promise<CommandResult> {
  const env = readCommandEnv(undefined, source);
  const id = haulerId(text);
  return withDatabase(env, (databaseUrl) =>
    withHauler(databaseUrl, id, async (pool) => {
      const hauler = await existing(pool, id);
      const storage = await openStorage(env.STORAGE_URL);
      try {
        return await work(pool, hauler, storage);
      } finally {
        storage.close();
      }
    }),
  );
}

/** Puts a locked hauler back into use here. */
export const unlockHauler = ({ id }: { readonly id: string }, context: CommandContext): Promise<CommandResult> =>
  onHauler(id, context, async (pool, { id, name, state, exportedAt, cell }) => {
    if (state === 'moved')
      throw new BackupError(`the hauler ${id} was released here: its data is deleted. Move it back instead`);
    if (state !== 'locked') throw new BackupError(`the hauler ${id} is not locked`);
    if (cell !== null) throw new BackupError(`hauler import --undo ${id} was interrupted: run it again`);
    await deleteMove(pool, id);
    const warning =
      exportedAt === null
        ? ''
        : `. It was exported at ${exportedAt}: if that archive was imported, run hauler import --undo ${id} there before anything is sent, because two cells would serve the hauler`;
    return { sentence: `the hauler ${name} is in use here again${warning}`, details: { hauler: id, exportedAt } };
  });

/** Ends the move at the source: deletes the hauler, but for what recognises its keys. It goes on after an interruption. */
export const releaseHauler = (
  { id, to }: { readonly id: string; readonly to?: string },
  context: CommandContext,
): Promise<CommandResult> =>
  onHauler(id, context, async (pool, { id, name, state, exportedAt, cell }, storage) => {
    const target = to ?? cell ?? undefined;
    if (target !== undefined && !CELL_NAME.test(target))
      throw new BackupError(`--to ${target} is not the name of a cell: 1 to 12 lower-case letters and digits`);
    if (state !== 'moved') {
      if (state !== 'locked' || exportedAt === null)
        throw new BackupError(`the hauler ${id} has no finished export: run hauler export ${id} --to … first`);
      await storeMove(pool, id, 'moved', target);
    }
    const files = await deleteHauler(pool, id, storage, context, true);
    const prefixes = await keyPrefixes(pool, id);
    const routes = routesOf(prefixes, target);
    return {
      sentence: `released the hauler ${name}: its rows and ${count(files, 'file')} are deleted here. A request with its keys is 503 with Retry-After here, until the proxy routes it to the other cell.\n${routes.text}`,
      details: { hauler: id, to: target, files, routes: routes.lines },
    };
  });

/** Removes an imported hauler, before the source was released. */
export const undoImport = (
  { id, discard }: { readonly id: string; readonly discard?: boolean },
  context: CommandContext,
): Promise<CommandResult> =>
  onHauler(id, context, async (pool, { id, name, state, since, cell }, storage) => {
    // A call that was interrupted goes on.
    const isInterrupted = state === 'locked' && cell !== null;
    if (state !== 'imported' && !isInterrupted)
      throw new BackupError(`the hauler ${id} was not imported here, or was exported from here since`);
    const stored = await storedSince(pool, id, since ?? '');
    if (stored > 0 && discard !== true && !isInterrupted)
      throw new BackupError(
        `${count(stored, 'ticket or account')} of the hauler ${id} came here since its import, and would be lost: pass --discard, or move the hauler back by hauler export`,
      );
    await lockHauler(pool, id, context, cell ?? '');
    const files = await deleteHauler(pool, id, storage, context, false);
    return {
      sentence: `removed the hauler ${name} and ${count(files, 'file')} here: hauler unlock at the source puts it back into use there`,
      details: { hauler: id, files, discarded: stored },
    };
  });

/** Files first: their rows name them, so that a second call finds what the first one has left. */
async function deleteHauler(
  pool: Pool,
  id: string,
  storage: Storage,
  { progress }: CommandContext,
  keeps: boolean,
): Promise<number> {
  let files = 0;
  for await (const page of videoPages(pool, id)) {
    const [failure] = (await storage.deleteMany(page.map(({ name }) => name))).values();
    if (failure !== undefined) throw failure;
    files += page.length;
    progress.report(`deleted ${files} files`);
  }
  progress.begin('deletes the rows');
  await pool.transaction(async (transaction) => {
    await deleteRows(transaction, id, { keeps });
    if (!keeps) await deleteMove(transaction, id);
  });
  return files;
}
