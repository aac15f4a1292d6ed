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
