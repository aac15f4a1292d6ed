import { AppError } from '../errors/app-error.js';
import type { Entry } from './batcher.js';
import { isDatabaseUnavailable, isLockTimeout } from './postgres-errors.js';

/**
 * How long a statement of a batch waits for a row that another transaction has locked. Longer than another instance needs
 * for a batch, and short, because the whole batch waits.
 */
export const LOCK_TIMEOUT_MS = 200;

/** How long a batch is halved to find the entries whose rows are locked. */
const LOCK_SEARCH_MS = 1000;

export interface BatchWork<Value, Result> {
  /** Writes all values or none. */
  write(values: readonly Value[]): Promise<readonly (Result | AppError | undefined)[]>;
  /** After a lost connection: the outcome of each value that was stored all the same. */
  find(values: readonly Value[]): Promise<readonly (Result | undefined)[]>;
}

/**
 * Writes the entries, all or none, and settles those that get an outcome. Returns the others. After an error it halves the
 * batch, so that a bad entry fails alone, and an entry whose row is locked elsewhere is deferred alone.
 */
export async function settleBatch<Value, Result>(
  entries: readonly Entry<Value, Result>[],
  work: BatchWork<Value, Result>,
  searchUntil = performance.now() + LOCK_SEARCH_MS,
): Promise<readonly Entry<Value, Result>[]> {
  try {
    const outcomes = await work.write(entries.map(({ value }) => value));
    return entries.filter((entry, i) => !settle(entry, outcomes[i]));
  } catch (error) {
    if (isLockTimeout(error)) {
      if (entries.length === 1 || performance.now() > searchUntil || entries.every(({ wasDeferred }) => wasDeferred)) {
        for (const entry of entries) entry.defer();
        return [];
      }
    } else if (entries.length === 1 || error instanceof AppError || isDatabaseUnavailable(error)) {
      // If the connection was lost, the commit may have succeeded: the caller sends it again, which is harmless.
      for (const entry of entries) entry.reject(error);
      return [];
    }
    const half = entries.length >> 1;
    const first = await settleBatch(entries.slice(0, half), work, searchUntil);
    return [...first, ...(await settleBatch(entries.slice(half), work, searchUntil))];
  }
}

/** Returns false if there is no outcome. */
function settle<Value, Result>(entry: Entry<Value, Result>, outcome: Result | AppError | undefined): boolean {
  if (outcome === undefined) return false;
  if (outcome instanceof AppError) entry.reject(outcome);
  else entry.resolve(outcome);
  return true;
}
