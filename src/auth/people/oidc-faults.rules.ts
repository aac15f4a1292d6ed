import type { SignInFault } from '../../contracts/admin/people.dto.js';
import type { NetworkCause } from '../../contracts/common/network-causes.js';
import { networkCause } from '../../outbound/network-errors.js';
import { ownField } from '../../contracts/common/json.js';

/** The provider would have to show a page (OpenID Connect Core). */
const NEEDS_A_PAGE = new Set([
  'login_required',
  'interaction_required',
  'consent_required',
  'account_selection_required',
]);

/** What `openid-client` found wrong in an answer that did arrive. */
const INVALID = new Set([
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_KEY_SELECTION_FAILED',
]);

/** The provider may be back soon. Every other cause is one that somebody must fix. */
const IS_AWAY: ReadonlySet<NetworkCause> = new Set(['connection-refused', 'no-route']);

/** The fault of a sign-in by the error of `openid-client`; an error of another kind means that the provider is away. */
export function faultOf(error: unknown): SignInFault {
  const [code, reason] = [ownField(error, 'code'), ownField(error, 'error')];
  if (code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR') return NEEDS_A_PAGE.has(String(reason)) ? 'silent' : 'refused';
  // The code of the answer was used before, or is too old.
  if (code === 'OAUTH_RESPONSE_BODY_ERROR') return reason === 'invalid_grant' ? 'stale' : 'refused';
  if (INVALID.has(String(code))) return 'invalid';
  const cause = networkCause(error);
  return cause === undefined || IS_AWAY.has(cause) ? 'provider-away' : cause;
}
