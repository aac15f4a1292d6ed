import { ownField } from '../../contracts/common/json.js';
import { readRequestId } from '../client/vision.client.js';
import type { FailureKind, PartnerFailure } from '../../partner-client/partner-failure.js';

/** The maximum number of POSTs that the partner may have received (decision 41). */
export const MAX_SUBMITS = 3;

/**
 * The effect of a failed POST: `counted` may have reached the partner, and is sent again up to `MAX_SUBMITS`; `waiting` did
 * not, and is sent again until the deadline; `final` ends the part.
 */
const SUBMIT_FAILURES: Readonly<Record<FailureKind, 'final' | 'counted' | 'waiting'>> = {
  broken: 'counted',
  timedOut: 'counted',
  failed: 'counted',
  unavailable: 'counted',
  tooLarge: 'counted',
  // An answer of 2xx that is no acknowledgement: it may be that of a gateway.
  notJson: 'counted',
  breach: 'counted',
  unreachable: 'waiting',
  circuitOpen: 'waiting',
  switchedOff: 'waiting',
  rateLimited: 'waiting',
  unauthorized: 'waiting',
  connectionChanged: 'waiting',
  rejected: 'final',
  redirected: 'final',
  addressRefused: 'final',
};

/** Whether the partner may have taken a POST that failed so. */
export const mayBeTaken = ({ kind }: Pick<PartnerFailure, 'kind'>): boolean => SUBMIT_FAILURES[kind] === 'counted';

/** `submits` is the number of counted POSTs, this one included. */
export function submitFailure(
  { kind }: Pick<PartnerFailure, 'kind'>,
  submits: number,
): 'final' | 'counted' | 'waiting' {
  const effect = SUBMIT_FAILURES[kind];
  return effect === 'counted' && submits >= MAX_SUBMITS ? 'final' : effect;
}

/** In codes, `_` and `-` stand between words. */
const NAMES_EXISTING = /\balready\b|\bduplicate|\bexisting request\b|\brequest (\S+ )?exists\b/i;

/** With these, an id alone is that of the call, which gateways put into their errors. */
const OTHER_REFUSALS: readonly (number | undefined)[] = [403, 404, 405, 410, 413, 415];

/** The request that the partner already has, as its refusal of a duplicate shows. */
export interface ExistingRequest {
  /** Its id, where the refusal says it. */
  readonly requestId?: string;
}

/**
 * A refusal as a duplicate: 409, or any other refusal that names an existing request (decision 41). The contract has no code
 * for it, so the partner's own words are read. It counts only after a lost answer.
 */
export function existingRequest(status: number | undefined, body: unknown): ExistingRequest | undefined {
  const error = ownField(body, 'error');
  const details = ownField(error, 'details');
  const places = [details, error, ownField(body, 'details'), ownField(body, 'data'), body];
  const requestId = places.map((place) => readRequestId(ownField(place, 'requestId'))).find((id) => id !== undefined);
  const words = [
    plainText(body),
    error,
    ...[error, body].flatMap((place) => ['code', 'message'].map((name) => ownField(place, name))),
  ]
    .filter((text) => typeof text === 'string')
    .join(' ')
    .replace(/[_-]/g, ' ');
  const isNamed = requestId !== undefined && !OTHER_REFUSALS.includes(status);
  if (status !== 409 && !isNamed && !NAMES_EXISTING.test(words)) return undefined;
  return requestId === undefined ? {} : { requestId };
}

/** A page of HTML is that of a gateway. */
const plainText = (body: unknown): string | undefined =>
  typeof body === 'string' && !body.trimStart().startsWith('<') ? body.slice(0, 1_000) : undefined;
