import { type FailureKind, PartnerFailure } from '../../partner-client/partner-failure.js';

/** So many failures of one window, and the others are read before it. */
const TRIES_BEFORE_OTHERS = 3;

/** Whether it may be the window's own: a partner that cannot be reached at all would fail the others as well. */
const OWN: Readonly<Record<FailureKind, boolean>> = {
  failed: true,
  timedOut: true,
  breach: true,
  notJson: true,
  tooLarge: true,
  rejected: true,
  addressRefused: false,
  unreachable: false,
  broken: false,
  unauthorized: false,
  redirected: false,
  rateLimited: false,
  unavailable: false,
  circuitOpen: false,
  withdrawn: false,
};

/**
 * Whether a window that failed is laid by, to be tried by itself, so that the ones behind it are read before their links
 * die. A gateway's 504 mostly says that this one is too much for it; a 404, that the customer or the truck is unknown.
 */
export function laysBy(failure: Error, attempt: number): boolean {
  if (attempt < TRIES_BEFORE_OTHERS) return false;
  if (!(failure instanceof PartnerFailure)) return true;
  const { kind, status } = failure;
  return status === 504 || (OWN[kind] && status !== 404);
}
