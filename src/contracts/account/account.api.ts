import { COMMON_ERRORS, defineApi } from '../common/api-contract.js';
import type { CreateAccountRequest, CreateAccountResponse } from './account.dto.js';

/** Account API 1.0.0 (sections 2.4, 2.5, 4.2; error codes by decision 12): hosted by the platform, called by partners. */
export const ACCOUNT_API = defineApi({
  name: 'account',
  title: 'Account API',
  version: '1.0.0',
  prefix: '/platform-api/v1',
  keyHeader: 'PLATFORM-API-KEY',
  routes: { createAccount: { method: 'POST', path: '/accounts' } },
  codes: ['INVALID_PAYLOAD', 'UNAUTHORIZED', 'CONFLICT', 'INTERNAL_ERROR'],
  errors: { ...COMMON_ERRORS, conflict: 'CONFLICT' },
});

/** `Replay` is the type of a repeated response: the text of the first one (decision 16). */
export interface AccountApi<Caller, Replay = never> {
  createAccount(request: CreateAccountRequest, caller: Caller): Promise<CreateAccountResponse | Replay>;
}
