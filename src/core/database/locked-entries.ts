import { setTimeout as delay } from 'node:timers/promises';
import { unavailable } from '../errors/app-error.js';
import { inBackground } from '../errors/background.js';

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
