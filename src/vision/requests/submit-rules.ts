import type { FailureKind, PartnerFailure } from '../../partner-client/partner-failure.js';

/** What becomes of a POST that failed (decision 41). */
export type SubmitVerdict = 'final' | 'counts' | 'waits';

/** In all, the first one included. */
export const MOST_SUBMITS = 3;

/**
 * `counts`: the answer was lost or is a 5xx, so that the partner may have got it; three in all. `waits`: it was not
 * taken at all, and may be tried until the deadline. `final`: the partner has refused it, or may not be asked.
 */
const VERDICTS: Readonly<Record<FailureKind, SubmitVerdict>> = {
  broken: 'counts',
  timedOut: 'counts',
  failed: 'counts',
  unavailable: 'counts',
  tooLarge: 'counts',
  notJson: 'counts',
  unreachable: 'waits',
  circuitOpen: 'waits',
  rateLimited: 'waits',
  unauthorized: 'waits',
  withdrawn: 'waits',
  rejected: 'final',
  redirected: 'final',
  breach: 'final',
  addressRefused: 'final',
};

/** `tries` is how many POSTs were sent that count, this one included. */
export function submitVerdict({ kind }: Pick<PartnerFailure, 'kind'>, tries: number): SubmitVerdict {
  const verdict = VERDICTS[kind];
  return verdict === 'counts' && tries >= MOST_SUBMITS ? 'final' : verdict;
}
