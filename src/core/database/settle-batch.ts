import { setTimeout as delay } from 'node:timers/promises';
import { AppError, unavailable } from '../errors/app-error.js';
import { inBackground } from '../errors/background.js';
import { outageSentence } from './reason.js';
import type { Pool } from './pool.js';
import { isDatabaseUnavailable, isLockTimeout, mayHaveCommitted } from './postgres-errors.js';
import type { Session } from './session.js';

/** How long an entry waits for a row that another transaction holds (decision 13), from its arrival to its last try. */
const MAX_LOCKED_MS = 2_800;

/** The pause before each round of tries. */
const RETRY_MS = 100;

/** Further entries go through the queue: there a row that is still locked is found again. */
const MAX_ENTRIES = 128;

interface Lockable {
  /** Names of the rows that it writes. */
  readonly lockNames: readonly string[];
  /** When it arrived, by `performance.now()`. */
  readonly since: number;
  readonly isOver: boolean;
  reject(error: unknown): void;
}

/**
 * Entries whose rows another transaction has locked. Each is tried again by itself, apart from the batches, so that nobody else
 * waits for the lock (decisions 67 and 73).
 */
export class LockedEntries<E extends Lockable> {
  private readonly entries = new Set<E>();
  private isRunning = false;

  /** `attempt` leaves an entry open if its row is still locked. */
  constructor(private readonly attempt: (entry: E) => Promise<void>) {}

  /** Whether an entry with one of these names would wait for one that is here. */
  includes(lockNames: readonly string[]): boolean {
    if (this.entries.size === 0 || this.entries.size >= MAX_ENTRIES) return false;
    return [...this.entries].some((entry) => entry.lockNames.some((name) => lockNames.includes(name)));
  }

  add(entry: E): void {
    this.entries.add(entry);
    if (this.isRunning) return;
    this.isRunning = true;
    inBackground(this.retry());
  }

  private async retry(): Promise<void> {
    try {
      while (this.entries.size > 0) {
        await delay(RETRY_MS, undefined, { ref: false });
        for (const entry of [...this.entries]) {
          if (!entry.isOver && performance.now() - entry.since > MAX_LOCKED_MS) entry.reject(locked());
          if (!entry.isOver) await this.attempt(entry);
          if (entry.isOver) this.entries.delete(entry);
        }
      }
    } finally {
      this.isRunning = false;
    }
  }
}

const locked = () => unavailable('another transaction holds the record; try again shortly');

/**
 * How long a statement of a batch waits for a row that another transaction has locked. Longer than another instance needs
 * for a batch, and short, because the whole batch waits.
 */
export const LOCK_TIMEOUT_MS = 200;

/** The same for a part of a batch that has waited already. */
export const NEXT_LOCK_TIMEOUT_MS = 20;

/** How long a batch is halved to find the entries whose rows are locked. */
const LOCK_SEARCH_MS = 1000;

/** One value of a batch. */
export interface Entry<Value, Result> {
  readonly value: Value;
  resolve(result: Result): void;
  reject(error: unknown): void;
  /** A row that it needs is locked elsewhere: it is tried again apart from others. */
  setApart(): void;
}

/**
 * Writes all values or none. An `undefined` outcome stands for a value that needs another call. `lockTimeoutMs` is given where it is
 * not `LOCK_TIMEOUT_MS`.
 */
export type Write<Value, Result> = (
  values: readonly Value[],
  lockTimeoutMs?: number,
) => Promise<readonly (Result | AppError | undefined)[]>;

/** Other transactions have changed the same rows at the same time, repeatedly. Nothing was written. */
export class ContentionError extends Error {
  constructor(cause: unknown) {
    super('other transactions keep changing the same rows', { cause });
    this.name = 'ContentionError';
  }
}

/**
 * Writes the entries and settles those that get an outcome. Returns the others. After an error it halves the batch, so that a bad
 * entry fails alone, and an entry whose row is locked elsewhere is set apart alone. After a lost connection the commit may have
 * succeeded: only the caller can decide to send it again.
 */
export async function settleBatch<Value, Result, E extends Entry<Value, Result>>(
  entries: readonly E[],
  write: Write<Value, Result>,
  lockTimeoutMs?: number,
  searchUntil = performance.now() + LOCK_SEARCH_MS,
): Promise<readonly E[]> {
  try {
    const values = entries.map(({ value }) => value);
    const outcomes = await write(values, lockTimeoutMs);
    return entries.filter((entry, i) => !settle(entry, outcomes[i]));
  } catch (error) {
    const isLocked = isLockTimeout(error) || error instanceof ContentionError;
    const isWhole = isLocked ? performance.now() > searchUntil : isDatabaseUnavailable(error);
    if (isWhole || entries.length === 1) {
      for (const entry of entries) {
        if (isLocked) entry.setApart();
        else entry.reject(mayHaveCommitted(error) ? undecided(error) : error);
      }
      return [];
    }
    const half = entries.length >> 1;
    const settleHalf = (part: readonly E[]) => settleBatch(part, write, NEXT_LOCK_TIMEOUT_MS, searchUntil);
    return [...(await settleHalf(entries.slice(0, half))), ...(await settleHalf(entries.slice(half)))];
  }
}

/** The caller may push again, which is harmless. */
const undecided = (cause: unknown) => unavailable(`${outageSentence(cause)}; try again shortly`, { cause });

/** `work` uses one connection. With a lock timeout that is not the one of the pool, it is one transaction. */
export function withLockTimeout<T>(
  pool: Pool,
  lockTimeoutMs: number | undefined,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  if (lockTimeoutMs === undefined) return pool.use(work);
  return pool.transaction(work, { settings: { lock_timeout: String(lockTimeoutMs) } });
}

/** Returns false if there is no outcome. */
function settle<Value, Result>(entry: Entry<Value, Result>, outcome: Result | AppError | undefined): boolean {
  if (outcome === undefined) return false;
  if (outcome instanceof AppError) entry.reject(outcome);
  else entry.resolve(outcome);
  return true;
}
