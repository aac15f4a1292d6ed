import { LRUCache } from 'lru-cache';

/** The delay after a failure: `firstMs`, then `factor` times as long each time, up to `maxMs`. */
export interface Backoff {
  readonly firstMs: number;
  readonly factor: number;
  readonly maxMs: number;
  /** Share of the delay, 0 to 1, that is added or removed at random, so that rows that failed together retry apart. */
  readonly jitter: number;
}

export const DEFAULT_BACKOFF: Backoff = { firstMs: 5_000, factor: 2, maxMs: 3_600_000, jitter: 0.2 };

/** Maximum delay that an error can request, so that no partner can stop a row for good. */
export const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

/** The delay that an error may carry. */
interface RetryAdvice {
  /** Not before this time, as a partner asks by `Retry-After`. */
  readonly retryAt?: Date;
  /** Exactly then, by a rule of the job that throws the error. */
  readonly delayMs?: number;
}

/** The delay in milliseconds after the `attempt`-th failure in a row (from 1). `random` is in [0, 1). */
export function backoffMs(rule: Backoff, attempt: number, random: number): number {
  // The bounded exponent keeps the result finite.
  const delayMs = rule.firstMs * rule.factor ** Math.min(Math.max(attempt, 1) - 1, 100);
  return withJitter(Math.min(delayMs, rule.maxMs), rule.jitter, random);
}

/** The delay plus or minus up to `jitter` of it, in whole milliseconds. `random` is in [0, 1). */
export function withJitter(delayMs: number, jitter: number, random: number): number {
  return Math.round(delayMs * (1 + jitter * (2 * random - 1)));
}

/**
 * The delay of the rule, which `retryAt` of the error lengthens up to `MAX_RETRY_AFTER_MS` and never shortens; or `delayMs`
 * of the error, which is at least `firstMs`, so that no error causes a loop.
 */
export function retryDelayMs(error: unknown, rule: Backoff, attempt: number, now: Date, random: number): number {
  const { retryAt, delayMs }: RetryAdvice = typeof error === 'object' && error !== null ? error : {};
  if (typeof delayMs === 'number') return Math.max(Math.min(delayMs, MAX_RETRY_AFTER_MS), rule.firstMs);
  return Math.max(Math.min(msUntil(retryAt, now), MAX_RETRY_AFTER_MS), backoffMs(rule, attempt, random));
}

/** Milliseconds from `now` to an instant, 0 for none or for one in the past. */
export const msUntil = (at: unknown, now: Date): number =>
  at instanceof Date && !Number.isNaN(at.getTime()) ? Math.max(0, at.getTime() - now.getTime()) : 0;

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
  pausedUntil(name: string): Date | undefined {
    const until = Math.max(this.targets.get(name)?.pausedUntil ?? 0, this.asked.get(name) ?? 0);
    return until > Date.now() ? new Date(until) : undefined;
  }

  /** The target can be reached. A pause that it asked for stays. */
  answered(name: string): void {
    this.targets.delete(name);
  }

  /** Returns whether the first pause begins with this failure. */
  failed(name: string): boolean {
    const now = Date.now();
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
  pause(name: string, until: Date): void {
    this.asked.set(name, Math.min(until.getTime(), Date.now() + MAX_ASKED_MS));
  }
}
