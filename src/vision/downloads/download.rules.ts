import { type Backoff, backoffMs, MAX_RETRY_AFTER_MS, retryDelayMs } from '../../core/outbound/backoff.js';
import type { DownloadErrorKind } from './download-error.js';

/** A link without an expiry is used for this long; then the partner is asked for another one. */
const MAX_LINK_AGE_MS = 24 * 3_600_000;

/** Tries of one link, and new links, are spaced from 1 s to 15 min (decision 47). */
const SPACING: Backoff = { firstMs: 1_000, factor: 2, maxMs: 15 * 60_000, jitter: 0 };

export interface FetchState {
  /** How often the link was replaced. */
  readonly relinks: number;
  /** Tries of this link, from 1. */
  readonly attempt: number;
  /** When the recording was first listed, in milliseconds since the epoch, as the other times. */
  readonly listedAt: number;
  readonly expiresAt: number | undefined;
  readonly givesUpAt: number;
}

export interface FetchFailure {
  readonly kind: DownloadErrorKind;
  readonly retryAt: Date | undefined;
  /** The attempt received bytes, but none beyond those of earlier attempts. */
  readonly madeNoProgress: boolean;
}

export type NextStep =
  | { readonly step: 'retry' | 'relink'; readonly afterMs: number }
  | { readonly step: 'end'; readonly status: 'failed' | 'expired' };

/** No other link and no later file changes these. */
const FINAL: ReadonlySet<DownloadErrorKind> = new Set(['address-refused', 'too-large']);

/**
 * The step after a failed try. A host that is unreachable or says "later" is asked again for the same file. After any other
 * failure the partner lists the recording again: that brings another link, shows whether there still is such a recording, and gives
 * a recorder time to finish the file. Footage is given up only at its deadline, or when the partner no longer lists it.
 */
export function nextStep(state: FetchState, failure: FetchFailure, now: number): NextStep {
  const { kind, retryAt, madeNoProgress } = failure;
  if (FINAL.has(kind)) return { step: 'end', status: 'failed' };
  if (now >= state.givesUpAt) return { step: 'end', status: kind === 'link-refused' ? 'expired' : 'failed' };
  const { expiresAt, listedAt, givesUpAt } = state;
  const isOver = expiresAt === undefined ? now - listedAt > MAX_LINK_AGE_MS : expiresAt <= now;
  if (kind !== 'retryable' || madeNoProgress || isOver) {
    return { step: 'relink', afterMs: Math.min(relinkDelayMs(state.relinks), givesUpAt - now) };
  }
  const delayMs = retryDelayMs({ retryAt }, SPACING, state.attempt, new Date(now), 0);
  // At the expiry of the link the partner is asked for another one, even if the host's `Retry-After` is later.
  const latest = Math.min(expiresAt ?? Infinity, givesUpAt, now + MAX_RETRY_AFTER_MS);
  return { step: 'retry', afterMs: Math.min(delayMs, latest - now) };
}

/** How long a recording waits for its next link after `relinks` new links. The first one is asked for at once. */
export const relinkDelayMs = (relinks: number): number => (relinks === 0 ? 0 : backoffMs(SPACING, relinks, 0));
