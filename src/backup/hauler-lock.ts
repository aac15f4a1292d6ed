import { setTimeout as delay } from 'node:timers/promises';
import { isUuid } from '../contracts/common/text.js';
import type { Pool } from '../database/pool.js';
import { BackupError } from './backup-error.js';
import type { CommandContext } from './commands.js';
import {
  areEnded,
  findHaulerState,
  type HaulerState,
  nextTransaction,
  stopWork,
  storeMove,
  tryLockCommands,
} from './hauler-moves.repository.js';
import { backupPool } from './load-archive.js';

/**
 * After this time no instance accepts a request of a hauler that was locked, and every request that was accepted before has its
 * transaction or its answer: keys are cached for 4 s, and an answer takes 5 s at most.
 */
const SETTLE_MS = 10_000;
const DRAIN_STEP_MS = 250;

/** Three connections: one holds the lock of the command, one works, and one renews what is announced meanwhile. */
export async function withHauler<T>(databaseUrl: string, id: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = backupPool(databaseUrl, 3);
  try {
    return await pool.transaction(
      async (session) => {
        if (!(await tryLockCommands(session, id)))
          throw new BackupError(`another command works on the hauler ${id}: wait until it has ended`);
        return work(pool);
      },
      { attempts: 1 },
    );
  } finally {
    await pool.close();
  }
}

export function haulerId(text: string): string {
  if (!isUuid(text)) throw new BackupError(`${text} is not the id of a hauler: hauler list shows them`);
  return text.toLowerCase();
}

export async function existing(pool: Pool, id: string): Promise<HaulerState> {
  const found = await findHaulerState(pool, id);
  if (found === undefined) throw new BackupError(`there is no hauler ${id}: hauler list shows them`);
  return found;
}

/** Locks a hauler, and returns when nothing of it is written any more. `cell`: where it came from, for an undo. */
export async function lockHauler(
  pool: Pool,
  id: string,
  { progress, signal }: Pick<CommandContext, 'progress' | 'signal'>,
  cell?: string,
): Promise<void> {
  progress.begin('locks the hauler, and waits until every instance knows');
  await pool.transaction(async (session) => {
    await storeMove(session, id, 'locked', cell);
    await stopWork(session, id);
  });
  await delay(SETTLE_MS, undefined, { signal });
  const before = await pool.use(async (session) => {
    // A row may have been started while the lock was stored.
    await stopWork(session, id);
    return nextTransaction(session);
  });
  while (!(await areEnded(pool, before))) {
    progress.report('waits for a transaction that began before the lock');
    await delay(DRAIN_STEP_MS, undefined, { signal });
  }
}
