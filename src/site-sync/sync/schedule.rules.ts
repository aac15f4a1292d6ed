import { retryDelayMs, withJitter } from '../../core/outbound/backoff.js';

const HOUR_MS = 3_600_000;

/** Jitter as a share of the delay in either direction: connections that were created together drift apart. */
const JITTER = 0.1;

/** Maximum delay after failures, unless the interval is longer: the return of a partner is noticed within this time. */
const MAX_BACKOFF_MS = HOUR_MS;

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

/** Milliseconds until the run after a failure. The delay doubles from the interval on; `retryAt` can only lengthen it. */
export function nextRunAfterFailureMs({ intervalSeconds, failures, retryAt, now }: FailedRun, random: number): number {
  const firstMs = intervalSeconds * 1000;
  const rule = { firstMs, factor: 2, maxMs: Math.max(firstMs, MAX_BACKOFF_MS), jitter: JITTER };
  return retryDelayMs({ retryAt }, rule, failures, now, random);
}
