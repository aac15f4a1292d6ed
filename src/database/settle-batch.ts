import { setTimeout as delay } from 'node:timers/promises';
import { AppError, unavailable } from '../errors/app-error.js';
import type { Entry } from './batcher.js';
import { outageSentence } from './outage.js';
import { isDatabaseUnavailable, isLockTimeout, mayHaveCommitted } from './postgres-errors.js';

/**
 * How long a statement of a batch waits for a row that another transaction has locked. Longer than another instance needs
 * for a batch, and short, because the whole batch waits.
 */
export const LOCK_TIMEOUT_MS = 200;

/** How long a batch is halved to find the entries whose rows are locked. */
const LOCK_SEARCH_MS = 1000;

/** How long the database may stay away, and then still be committing, until a lost batch is given up. */
const [AWAY_MS, COMMITTING_MS, FIND_PAUSE_MS] = [120_000, 8_000, 500];

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
      // If the connection was lost, the commit may have succeeded: only the caller can decide to send it again.
      if (mayHaveCommitted(error)) rejectUndecided(entries, work, error);
      else for (const entry of entries) entry.reject(error);
      return [];
    }
    const half = entries.length >> 1;
    const first = await settleBatch(entries.slice(0, half), work, searchUntil);
    return [...first, ...(await settleBatch(entries.slice(half), work, searchUntil))];
  }
}

/** The callers get 503; the exchange log waits for what was stored (decision 66). */
function rejectUndecided<Value, Result>(
  entries: readonly Entry<Value, Result>[],
  work: BatchWork<Value, Result>,
  cause: unknown,
): void {
  const found = findStored(
    entries.map(({ value }) => value),
    work,
  );
  entries.forEach((entry, i) => {
    const later = found.then((outcomes) => outcomes[i]);
    entry.reject(unavailable(`${outageSentence(cause)}; try again shortly`, { cause, later }));
  });
}

/** Asks again for what is not found, because the server may still be committing. Each value is found once. */
async function findStored<Value, Result>(
  values: readonly Value[],
  work: BatchWork<Value, Result>,
): Promise<readonly (Result | undefined)[]> {
  const found = new Map<Value, Result>();
  let endsAt = performance.now() + AWAY_MS;
  let isThere = false;
  while (found.size < values.length && performance.now() < endsAt) {
    await delay(FIND_PAUSE_MS, undefined, { ref: false });
    const missing = values.filter((value) => !found.has(value));
    try {
      const outcomes = await work.find(missing);
      missing.forEach((value, i) => {
        const outcome = outcomes[i];
        if (outcome !== undefined) found.set(value, outcome);
      });
      if (!isThere) endsAt = performance.now() + COMMITTING_MS;
      isThere = true;
    } catch (error) {
      if (!isDatabaseUnavailable(error)) break;
    }
  }
  return values.map((value) => found.get(value));
}

/** Returns false if there is no outcome. */
function settle<Value, Result>(entry: Entry<Value, Result>, outcome: Result | AppError | undefined): boolean {
  if (outcome === undefined) return false;
  if (outcome instanceof AppError) entry.reject(outcome);
  else entry.resolve(outcome);
  return true;
}
