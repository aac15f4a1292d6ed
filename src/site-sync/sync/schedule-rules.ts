import { backoffMs, LONGEST_ADVICE_MS, varied } from '../../jobs/backoff.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Share of a delay by which it varies in either direction: connections made together drift apart. */
const JITTER = 0.1;

/** The longest that failures push the next run away, unless its interval is longer: so late is a partner's return seen. */
const LONGEST_BACKOFF_MS = HOUR_MS;

/** A partner that asks for more than this is called just when it asked for, though at the latest after `LONGEST_ADVICE_MS`; a shorter wait only delays our own next try (decision 36). */
const OWN_WORD_MS = 5 * MINUTE_MS;

/** Milliseconds until the next run after one that did not fail. `random` is in [0, 1). */
export function nextRunMs(intervalSeconds: number, random: number): number {
  return varied(intervalSeconds * 1000, JITTER, random);
}

export interface Failed {
  readonly intervalSeconds: number;
  /** Failures in a row, this one included. */
  readonly failures: number;
  /** When the partner asked to be called again. */
  readonly retryAt: Date | undefined;
  readonly now: Date;
}

/** Milliseconds until the next run after a failure: doubling from the interval on, and not before the partner has asked to be called. */
export function nextRunAfterFailureMs({ intervalSeconds, failures, retryAt, now }: Failed, random: number): number {
  const asked = retryAt === undefined ? 0 : retryAt.getTime() - now.getTime();
  if (asked > OWN_WORD_MS) return Math.min(asked, LONGEST_ADVICE_MS);
  const firstMs = intervalSeconds * 1000;
  const rule = { firstMs, factor: 2, maxMs: Math.max(firstMs, LONGEST_BACKOFF_MS), jitter: JITTER };
  return Math.max(asked, backoffMs(rule, failures, random));
}
