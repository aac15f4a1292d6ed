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

/** The advice that an error may carry, for example from a partner's `Retry-After`. */
interface RetryAdvice {
  readonly retryAt?: Date;
  readonly retryAfterMs?: number;
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
 * The delay that an error requests takes precedence over the rule, up to `MAX_RETRY_AFTER_MS`. It is at least `firstMs`, so that a
 * partner that always answers "retry at once" does not cause a loop.
 */
export function retryDelayMs(error: unknown, rule: Backoff, attempt: number, now: Date, random: number): number {
  const advice = adviceMs(error, now);
  if (advice === undefined) return backoffMs(rule, attempt, random);
  return Math.max(Math.min(advice, MAX_RETRY_AFTER_MS), rule.firstMs);
}

function adviceMs(error: unknown, now: Date): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { retryAt, retryAfterMs } = error as RetryAdvice;
  const advice = retryAt instanceof Date ? retryAt.getTime() - now.getTime() : retryAfterMs;
  return typeof advice === 'number' && Number.isFinite(advice) ? advice : undefined;
}
