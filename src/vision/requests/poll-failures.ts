import type { FailureKind, PartnerFailure } from '../../partner-client/partner-failure.js';

/**
 * Whom a failed question concerns: a `partner` that cannot be reached, or wants nothing of us now, answers the next one no
 * better; every other failure says something of this one `question` alone.
 */
const CONCERNS: Readonly<Record<FailureKind, 'partner' | 'question'>> = {
  unreachable: 'partner',
  circuitOpen: 'partner',
  rateLimited: 'partner',
  unauthorized: 'partner',
  addressRefused: 'partner',
  withdrawn: 'partner',
  broken: 'question',
  timedOut: 'question',
  failed: 'question',
  unavailable: 'question',
  tooLarge: 'question',
  notJson: 'question',
  rejected: 'question',
  redirected: 'question',
  breach: 'question',
};

export const concernsQuestion = ({ kind }: Pick<PartnerFailure, 'kind'>): boolean => CONCERNS[kind] === 'question';

/** Whether the partner is asked nothing more in this round: whoever says when to come back is not asked before. */
export const endsRound = (failure: Pick<PartnerFailure, 'kind' | 'retryAt'>): boolean =>
  !concernsQuestion(failure) || failure.retryAt !== undefined;

/** Among parts that are asked for one by one, one wait in vain is enough: a hundred of them would take two hours. */
export const endsAskingAlone = (failure: Pick<PartnerFailure, 'kind' | 'retryAt'>): boolean =>
  endsRound(failure) || failure.kind === 'timedOut';

/** The customer, the truck or the camera, says the partner (decision 44). */
export const isUnknown = ({ status }: PartnerFailure): boolean => status === 404;
