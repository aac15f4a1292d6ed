import { type Backoff, backoffMs, MAX_RETRY_AFTER_MS, retryDelayMs } from '../../outbound/backoff.js';
import type { DownloadErrorKind } from './download-error.js';

/** How often a link is replaced by listing again (decision 47). */
export const MAX_RELINKS = 5;
/** A download ends after this many attempts that received bytes, but none beyond those of an earlier attempt. */
export const MAX_NO_PROGRESS_ATTEMPTS = 5;
/** A link without an expiry is used for this long at most. */
const MAX_LINK_AGE_MS = 24 * 3_600_000;

const RETRIES: Backoff = { firstMs: 1_000, factor: 2, maxMs: 60_000, jitter: 0 };

export interface FetchState {
  readonly relinks: number;
  readonly noProgressAttempts: number;
  /** From 1. */
  readonly attempt: number;
  /** When the recording was first listed, in milliseconds since the epoch. */
  readonly listedAt: number;
  readonly expiresAt: number | undefined;
}

export interface FetchFailure {
  readonly kind: DownloadErrorKind;
  readonly retryAt: Date | undefined;
  /** The attempt received bytes, but none beyond those of earlier attempts. */
  readonly madeNoProgress: boolean;
}

export type NextStep =
  | { readonly step: 'retry'; readonly afterMs: number }
  | { readonly step: 'relink'; readonly afterMs: number }
  | { readonly step: 'end'; readonly status: 'failed' | 'expired' };

/** The next attempt may succeed: a page that says "try again in a moment" comes with status 200 too. */
const BROKEN: ReadonlySet<DownloadErrorKind> = new Set(['wrong-length', 'empty', 'invalid-mp4']);

/** Whether the host sent a broken body; the number of these is limited. */
export const isBroken = ({ kind, madeNoProgress }: Pick<FetchFailure, 'kind' | 'madeNoProgress'>): boolean =>
  madeNoProgress || BROKEN.has(kind);

/**
 * The step after a failed attempt. A refused link is replaced. An unreachable host is retried while the link is valid. The
 * download ends if the host repeats a broken body, or if no retry can change the failure.
 */
export function nextStep(state: FetchState, failure: FetchFailure, now: number): NextStep {
  if (failure.kind === 'link-refused') return relinkOrEnd(state);
  if (failure.kind !== 'retryable' && !BROKEN.has(failure.kind)) return { step: 'end', status: 'failed' };
  if (isBroken(failure) && state.noProgressAttempts + 1 >= MAX_NO_PROGRESS_ATTEMPTS)
    return { step: 'end', status: 'failed' };
  if (state.expiresAt === undefined && now - state.listedAt > MAX_LINK_AGE_MS) return relinkOrEnd(state);
  const delayMs = retryDelayMs({ retryAt: failure.retryAt }, RETRIES, state.attempt, new Date(now), 0);
  return { step: 'retry', afterMs: Math.min(delayMs, maxWaitMs(state, now)) };
}

/** The row is due again when the link expires, even if the host's `Retry-After` is later. */
function maxWaitMs({ expiresAt }: FetchState, now: number): number {
  return expiresAt === undefined ? MAX_RETRY_AFTER_MS : Math.min(Math.max(expiresAt - now, 0), MAX_RETRY_AFTER_MS);
}

/** The first new link is requested at once, later ones after growing delays. */
export function relinkOrEnd({ relinks }: Pick<FetchState, 'relinks'>): NextStep {
  if (relinks >= MAX_RELINKS) return { step: 'end', status: 'expired' };
  return { step: 'relink', afterMs: relinkDelayMs(relinks) };
}

/** How long a recording waits for its next link after `relinks` new links. */
export const relinkDelayMs = (relinks: number): number => (relinks === 0 ? 0 : backoffMs(RETRIES, relinks, 0));
