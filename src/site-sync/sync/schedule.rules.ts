import { backoffMs, MAX_RETRY_AFTER_MS, withJitter } from '../../work/backoff.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Jitter as a share of the delay in either direction: connections that were created together drift apart. */
const JITTER = 0.1;

/** Maximum delay after failures, unless the interval is longer: the return of a partner is noticed within this time. */
const MAX_BACKOFF_MS = HOUR_MS;

/** A longer `Retry-After` decides alone when the next run is due, up to `MAX_RETRY_AFTER_MS` (decision 36). */
const RETRY_AFTER_OVERRIDE_MS = 5 * MINUTE_MS;

/** Milliseconds until the run after one that did not fail. `random` is in [0, 1). */
export function nextRunMs(intervalSeconds: number, random: number): number {
  return withJitter(intervalSeconds * 1000, JITTER, random);
}

export interface FailedRun {
  readonly intervalSeconds: number;
  /** Failures in a row, including this one. */
  readonly failures: number;
  /** When the partner asked to be called again. */
  readonly retryAt: Date | undefined;
  readonly now: Date;
}

/** Milliseconds until the run after a failure. The delay doubles from the interval on; `retryAt` is its minimum. */
export function nextRunAfterFailureMs({ intervalSeconds, failures, retryAt, now }: FailedRun, random: number): number {
  const retryAfterMs = retryAt === undefined ? 0 : retryAt.getTime() - now.getTime();
  if (retryAfterMs > RETRY_AFTER_OVERRIDE_MS) return Math.min(retryAfterMs, MAX_RETRY_AFTER_MS);
  const firstMs = intervalSeconds * 1000;
  const rule = { firstMs, factor: 2, maxMs: Math.max(firstMs, MAX_BACKOFF_MS), jitter: JITTER };
  return Math.max(retryAfterMs, backoffMs(rule, failures, random));
}
