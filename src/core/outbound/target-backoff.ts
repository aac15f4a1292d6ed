import { LRUCache } from 'lru-cache';
import { type Backoff, backoffMs } from './backoff.js';

const PAUSES: Backoff = { firstMs: 5_000, factor: 2, maxMs: 60_000, jitter: 0 };

/** Longest pause that a target can ask for. The work that was refused waits for the whole `Retry-After`. */
const MAX_ASKED_MS = 300_000;

interface Target {
  /** In a row. */
  readonly failures: number;
  readonly pausedUntil: number;
}

/**
 * Pauses calls to targets (connections, file hosts, the storage) that fail: after a number of failures in a row, and then
 * for longer after each further one. A target can also ask for a pause, by `Retry-After`.
 */
export class TargetBackoff {
  private readonly targets = new LRUCache<string, Target>({ max: 10_000 });
  private readonly asked = new LRUCache<string, number>({ max: 10_000 });

  /** `failures` in a row begin the first pause. */
  constructor(
    private readonly failures: number,
    private readonly pauses = PAUSES,
  ) {}

  /** When the target may be called again; undefined if it may be called now. */
  pausedUntil(name: string, now = Date.now()): Date | undefined {
    const until = Math.max(this.targets.get(name)?.pausedUntil ?? 0, this.asked.get(name) ?? 0);
    return until > now ? new Date(until) : undefined;
  }

  /** The target can be reached. A pause that it asked for stays. */
  answered(name: string): void {
    this.targets.delete(name);
  }

  /** Returns whether the first pause begins with this failure. */
  failed(name: string, now = Date.now()): boolean {
    const { failures: before, pausedUntil } = this.targets.get(name) ?? { failures: 0, pausedUntil: 0 };
    // Calls that were under way when the pause began fail as well, and do not extend it.
    if (pausedUntil > now) return false;
    const failures = before + 1;
    const beyond = failures - this.failures;
    const pauseMs = beyond < 0 ? 0 : backoffMs(this.pauses, beyond + 1, Math.random());
    this.targets.set(name, { failures, pausedUntil: now + pauseMs });
    return beyond === 0;
  }

  /** The target asked for no call before this time. */
  pause(name: string, until: Date, now = Date.now()): void {
    this.asked.set(name, Math.min(until.getTime(), now + MAX_ASKED_MS));
  }
}
