import type { SignInFault } from '../../contracts/admin/people.dto.js';
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

/** The fault of a sign-in by the error of `openid-client`; an error of another kind means that the provider is away. */
export function faultOf(error: unknown): SignInFault {
  const [code, reason] = [ownField(error, 'code'), ownField(error, 'error')];
  if (code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR') return NEEDS_A_PAGE.has(String(reason)) ? 'silent' : 'refused';
  // The code of the answer was used before, or is too old.
  if (code === 'OAUTH_RESPONSE_BODY_ERROR') return reason === 'invalid_grant' ? 'stale' : 'refused';
  return INVALID.has(String(code)) ? 'invalid' : 'provider-away';
}
