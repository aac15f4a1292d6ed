import { PartnerFailure } from '../../partner-client/partner-failure.js';

/** The same failure, to be tried again at the deadline where the partner asks for later: it ends what waits (decision 41). */
export function notBeyond(deadlineAt: Date, failure: PartnerFailure): PartnerFailure {
  const { kind, message, retryAt } = failure;
  if (retryAt === undefined || retryAt <= deadlineAt) return failure;
  return new PartnerFailure(kind, message, { retryAt: deadlineAt, cause: failure });
}

/** Why it ended by its deadline, with what was heard of the partner last. */
export const withLast = (reason: string, last: string | null): string =>
  last === null ? reason : `${reason} Heard last: ${last}`;
