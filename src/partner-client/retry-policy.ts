import type { FailureKind, PartnerFailure } from './partner-failure.js';

/** Of a reading (decision 36), the first one included. */
const TRIES = 3;

/** 429, 502, 503, 504 and connections that are refused or break. */
const RETRIED: ReadonlySet<FailureKind> = new Set(['rateLimited', 'unavailable', 'unreachable', 'broken']);

/** A `Retry-After` of more than this ends the call; the failure's `retryAt` says when to come back. */
const MOST_WAIT_MS = 300_000;

/**
 * Milliseconds until the next try after the `attempt`-th one (from 1), or undefined where there is none. It doubles,
 * and is spread over half to one and a half of itself; the partner's own word is the least. `random` is in [0, 1).
 */
export function nextTryMs(
  failure: PartnerFailure,
  attempt: number,
  timing: { readonly baseMs: number; readonly now: Date; readonly random: number },
): number | undefined {
  if (attempt >= TRIES || !RETRIED.has(failure.kind)) return undefined;
  const asked = failure.retryAt === undefined ? 0 : failure.retryAt.getTime() - timing.now.getTime();
  if (asked > MOST_WAIT_MS) return undefined;
  return Math.max(asked, Math.round(timing.baseMs * 2 ** (attempt - 1) * (0.5 + timing.random)));
}
