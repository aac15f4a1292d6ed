import { COMMON_ERRORS, defineApi } from '../common/api-contract.js';
import {
  IDEMPOTENCY_REQUEST,
  IDEMPOTENCY_RESPONSE,
  KEY_REUSED,
  KEY_REUSED_REASON,
  violationExample,
} from '../common/idempotency.js';
import { CreateAccountRequest, CreateAccountResponse } from './account.dto.js';

const CODE = 'CONFLICT';

/** The error of a name that another account has (decision 28). */
export const nameTaken = (id: string, accountNumber: string) => ({
  message: `the account ${accountNumber} has the same name`,
  details: { reason: 'NAME_TAKEN' as const, accountId: id, accountNumber },
});

/** Account API 1.0.0 (sections 2.4, 2.5, 4.2; error codes by decision 12): hosted by the platform, called by partners. */
export const ACCOUNT_API = defineApi({
  name: 'account',
  title: 'Account API',
  version: '1.0.0',
  prefix: '/platform-api/v1',
  keyHeader: 'PLATFORM-API-KEY',
  routes: {
    createAccount: {
      method: 'POST',
      path: '/accounts',
      summary: 'Create a customer account',
      description:
        'Only the name is required. Keep `accountId` and `accountNumber`: they are needed to refer to it later.',
      requestHeaders: IDEMPOTENCY_REQUEST,
      body: CreateAccountRequest,
      status: 200,
      response: CreateAccountResponse,
      returns: 'The account',
      responseHeaders: IDEMPOTENCY_RESPONSE,
      fails: {
        conflict: {
          description:
            '`details.reason` is `NAME_TAKEN` if there is an account of that name, which `details.accountId` and ' +
            '`details.accountNumber` name, and `IDEMPOTENCY_KEY_REUSED` if the key was used with another body',
          headers: IDEMPOTENCY_RESPONSE,
          examples: {
            'a name that is taken': {
              code: CODE,
              ...nameTaken('019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d', 'A-100042'),
            },
            'a key that was used with another body': violationExample(CODE, [KEY_REUSED], KEY_REUSED_REASON),
          },
        },
      },
    },
  },
  codes: ['INVALID_PAYLOAD', 'UNAUTHORIZED', CODE, 'INTERNAL_ERROR'],
  errors: { ...COMMON_ERRORS, conflict: CODE },
});
