import type { SignInFault } from '../../contracts/admin/sessions.routes.js';
import type { NetworkCause } from '../../contracts/common/network-causes.values.js';
import { networkCause } from '../../contracts/common/network-cause.js';
import { ownField } from '../../contracts/common/json.js';

/** The provider would have to show a page (OpenID Connect Core). */
const NEEDS_A_PAGE = new Set([
  'login_required',
  'interaction_required',
  'consent_required',
  'account_selection_required',
]);

/** The identity provider could not be reached, or did not answer in time. */
export class NoAnswerError extends Error {}

/** An answer of the identity provider that began and is not whole. */
export class BrokenAnswerError extends Error {}

export interface SignInFailure {
  readonly fault: SignInFault;
  /** The algorithm of the ID token, if it is the fault. */
  readonly algorithm?: string;
}

/** The provider may be back soon. Every other cause is one that somebody must fix. */
const IS_AWAY: ReadonlySet<NetworkCause> = new Set(['connection-refused', 'no-route']);

/** The provider answers the service itself, and not the person, with 401. */
const REFUSES_CLIENT = 'OAUTH_WWW_AUTHENTICATE_CHALLENGE';

/** The variables to look at, by the code of an error, or by the status of an answer. */
const VARIABLES: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [REFUSES_CLIENT, 'OIDC_CLIENT_ID and OIDC_CLIENT_SECRET'],
  ['invalid_client', 'OIDC_CLIENT_ID and OIDC_CLIENT_SECRET'],
  ['OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED', 'OIDC_ISSUER'],
  [404, 'OIDC_ISSUER'],
]);

const MAX_REASON = 500;

/** For the log: what the errors and the provider say, and which variables to look at. */
export function reasonOf(error: unknown): string {
  const causes = causesOf(error);
  const texts = causes.flatMap((cause) =>
    cause instanceof Response
      ? [`HTTP ${cause.status}`]
      : ['message', 'code', 'error', 'error_description'].map((name) => ownField(cause, name)),
  );
  const said = texts.filter((text) => typeof text === 'string' && text !== '').join(': ');
  const codes = causes.flatMap((cause) =>
    cause instanceof Response ? [cause.status] : [ownField(cause, 'code'), ownField(cause, 'error')],
  );
  const known = codes.map((code) => VARIABLES.get(code)).find((names) => names !== undefined);
  const advice = known === undefined ? '' : `; compare ${known} with the provider`;
  return `${said.slice(0, MAX_REASON)}${advice}`;
}

/** Names of algorithms are short words (RFC 7518). */
const ALGORITHM = /^[\w-]{1,20}$/;

/**
 * The failure of a sign-in by the error of `openid-client`; undefined for an error that is none of the provider. Only a provider
 * that gave no answer is away.
 */
export function failureOf(error: unknown): SignInFailure | undefined {
  const causes = causesOf(error);
  if (causes.some((cause) => cause instanceof NoAnswerError)) {
    const cause = networkCause(error);
    return { fault: cause === undefined || IS_AWAY.has(cause) ? 'provider-away' : cause };
  }
  if (causes.some((cause) => cause instanceof BrokenAnswerError)) return { fault: 'invalid' };
  const [code, reason] = [ownField(error, 'code'), ownField(error, 'error')];
  if (typeof code !== 'string' || !code.startsWith('OAUTH_')) return undefined;
  if (code === REFUSES_CLIENT) return { fault: 'refused' };
  if (code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT') return { fault: 'provider-away' };
  if (code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR')
    return { fault: NEEDS_A_PAGE.has(String(reason)) ? 'silent' : 'refused' };
  // The code of the answer was used before, or is too old.
  if (code === 'OAUTH_RESPONSE_BODY_ERROR') return { fault: reason === 'invalid_grant' ? 'stale' : 'refused' };
  const algorithm = causes.map(algorithmIn).find((each) => each !== undefined);
  return algorithm === undefined ? { fault: 'invalid' } : { fault: 'algorithm', algorithm };
}

/** The error and what caused it. */
function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let each = error; each !== undefined && causes.length < 10; each = ownField(each, 'cause')) causes.push(each);
  return causes;
}

/** `openid-client` names the algorithm that it refuses beside its head, or with what it expected. */
function algorithmIn(cause: unknown): string | undefined {
  const header = ownField(cause, 'expected') === undefined ? cause : ownField(cause, 'header');
  const algorithm = ownField(header, 'alg');
  return typeof algorithm === 'string' && ALGORITHM.test(algorithm) ? algorithm : undefined;
}
