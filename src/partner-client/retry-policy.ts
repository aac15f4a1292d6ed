import type { FailureKind, PartnerFailure } from './partner-failure.js';

export interface RetryPolicy {
  /** In all, the first one included. */
  readonly tries: number;
  readonly on: ReadonlySet<FailureKind>;
  /** A `Retry-After` of more milliseconds than this ends the call; the failure's `retryAt` says when to come back. */
  readonly maxWaitMs: number;
}

const FIVE_MINUTES = 300_000;

/** For reading (decision 36): 429, 502, 503, 504 and connections that are refused or break. */
export const READ_RETRY: RetryPolicy = {
  tries: 3,
  on: new Set(['rateLimited', 'unavailable', 'unreachable', 'broken']),
  maxWaitMs: FIVE_MINUTES,
};

export const ONE_TRY: RetryPolicy = { tries: 1, on: new Set(), maxWaitMs: 0 };

/**
 * Milliseconds until the next try after the `attempt`-th one (from 1), or undefined where there is none. It doubles,
 * and is spread over half to one and a half of itself; the partner's own word is the least. `random` is in [0, 1).
 */
export function nextTryMs(
  failure: PartnerFailure,
  attempt: number,
  policy: RetryPolicy,
  timing: { readonly baseMs: number; readonly now: Date; readonly random: number },
): number | undefined {
  if (attempt >= policy.tries || !policy.on.has(failure.kind)) return undefined;
  const asked = failure.retryAt === undefined ? 0 : failure.retryAt.getTime() - timing.now.getTime();
  if (asked > policy.maxWaitMs) return undefined;
  return Math.max(asked, Math.round(timing.baseMs * 2 ** (attempt - 1) * (0.5 + timing.random)));
}
