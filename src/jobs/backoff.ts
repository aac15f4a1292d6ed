/** How long a row waits after a failure: `firstMs`, then `factor` times as long each time, up to `maxMs`. */
export interface Backoff {
  readonly firstMs: number;
  readonly factor: number;
  readonly maxMs: number;
  /** Share of the delay by which it varies in either direction, 0 to 1: many rows that failed at once come back apart. */
  readonly jitter: number;
}

export const DEFAULT_BACKOFF: Backoff = { firstMs: 5_000, factor: 2, maxMs: 3_600_000, jitter: 0.2 };

/** The longest that anybody's advice counts: no partner stops a row for good. */
export const LONGEST_ADVICE_MS = 24 * 3_600_000;

/** What an error may carry to say itself when to come back, as a partner's `Retry-After` does. */
interface RetryAdvice {
  readonly retryAt?: Date;
  readonly retryAfterMs?: number;
}

/** The delay in milliseconds after the `attempt`-th failure in a row (from 1). `random` is in [0, 1). */
export function backoffMs(rule: Backoff, attempt: number, random: number): number {
  // The exponent is bounded: 2 ** 1024 is no number to calculate with.
  const grown = rule.firstMs * rule.factor ** Math.min(Math.max(attempt, 1) - 1, 100);
  return varied(Math.min(grown, rule.maxMs), rule.jitter, random);
}

/** A delay that is up to that share of it longer or shorter, in whole milliseconds. `random` is in [0, 1). */
export function varied(delayMs: number, jitter: number, random: number): number {
  return Math.round(delayMs * (1 + jitter * (2 * random - 1)));
}

/**
 * The error's own advice wins over the rule, also where it is longer than the rule would ever wait, up to a day. Never
 * sooner than `firstMs`: a partner that always says "try again at once" must not make a loop of us.
 */
export function retryDelayMs(error: unknown, rule: Backoff, attempt: number, now: Date, random: number): number {
  const advice = adviceMs(error, now);
  if (advice === undefined) return backoffMs(rule, attempt, random);
  return Math.max(Math.min(advice, LONGEST_ADVICE_MS), rule.firstMs);
}

function adviceMs(error: unknown, now: Date): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { retryAt, retryAfterMs } = error as RetryAdvice;
  const advice = retryAt instanceof Date ? retryAt.getTime() - now.getTime() : retryAfterMs;
  return typeof advice === 'number' && Number.isFinite(advice) ? advice : undefined;
}
