import { LONGEST_ADVICE_MS } from '../../jobs/backoff.js';
import type { DownloadFailureKind } from '../../storage/download/download-failure.js';

/** How often a link is replaced by listing again (decision 47). */
export const MOST_RELINKS = 5;
/** So many tries that got bytes, and none beyond what an earlier one got, end a download. */
export const MOST_FRUITLESS = 5;
/** A link that says nothing of its end is not tried longer than this. */
const LONGEST_WITHOUT_EXPIRY_MS = 24 * 3_600_000;

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;

export interface FetchState {
  readonly relinks: number;
  readonly fruitless: number;
  /** From 1. */
  readonly attempt: number;
  /** When the recording was first listed, in milliseconds since the epoch. */
  readonly listedAt: number;
  readonly expiresAt: number | undefined;
}

export interface FetchFailure {
  readonly kind: DownloadFailureKind;
  readonly retryAfterMs: number | undefined;
  /** The try got bytes, though none beyond what earlier ones had. */
  readonly fruitless: boolean;
}

export type NextStep =
  | { readonly step: 'retry'; readonly afterMs: number }
  | { readonly step: 'relink'; readonly afterMs: number }
  | { readonly step: 'end'; readonly status: 'failed' | 'expired' };

/** What may be another file, or a whole one, the next time: a page that says "in a moment" comes with status 200 too. */
const BROKEN: ReadonlySet<DownloadFailureKind> = new Set(['wrong-length', 'empty', 'not-a-film']);

/** Whether the host sent a broken body, which it is not asked for without end. */
export const isBroken = ({ kind, fruitless }: Pick<FetchFailure, 'kind' | 'fruitless'>): boolean =>
  fruitless || BROKEN.has(kind);

/**
 * What becomes of a recording after a try that failed. A refused link is replaced; a host that is away is waited for as
 * long as the link lives; a host that sends the same broken body again and again is given up, and so is what no other
 * try can mend.
 */
export function nextStep(state: FetchState, failure: FetchFailure, now: number): NextStep {
  if (failure.kind === 'link-refused') return relinkOrEnd(state);
  if (failure.kind !== 'retryable' && !BROKEN.has(failure.kind)) return { step: 'end', status: 'failed' };
  if (isBroken(failure) && state.fruitless + 1 >= MOST_FRUITLESS) return { step: 'end', status: 'failed' };
  if (state.expiresAt === undefined && now - state.listedAt > LONGEST_WITHOUT_EXPIRY_MS) return relinkOrEnd(state);
  return { step: 'retry', afterMs: Math.min(retryMs(state, failure), longestWaitMs(state, now)) };
}

function retryMs({ attempt }: FetchState, { retryAfterMs = 0 }: FetchFailure): number {
  return Math.max(retryAfterMs, Math.min(FIRST_RETRY_MS * 2 ** (attempt - 1), LONGEST_RETRY_MS));
}

/** Whatever the host asks for: once the link is dead the row is looked at again, and the partner asked for another. */
function longestWaitMs({ expiresAt }: FetchState, now: number): number {
  return expiresAt === undefined ? LONGEST_ADVICE_MS : Math.min(Math.max(expiresAt - now, 0), LONGEST_ADVICE_MS);
}

/** The first new link at once; a partner that hands out dead ones is asked at growing distances. */
export function relinkOrEnd({ relinks }: Pick<FetchState, 'relinks'>): NextStep {
  if (relinks >= MOST_RELINKS) return { step: 'end', status: 'expired' };
  return { step: 'relink', afterMs: relinks === 0 ? 0 : 1_000 * 2 ** (relinks - 1) };
}
