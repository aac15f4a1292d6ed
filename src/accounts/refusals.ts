import { ACCOUNT_API } from '../contracts/accounts/account.api.js';
import { exampleOf, type Failure } from '../http/route-documentation.js';
import { REPLAYED_HEADER } from '../idempotency/documentation.js';
import { keyReused } from '../idempotency/idempotency-key.js';
import { nameTaken } from './account.service.js';

const existing = { id: '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d', accountNumber: 'A-100042' };

/** What the document tells of 409 (decisions 16 and 28). */
export const REFUSED: Failure = {
  description:
    '`details.reason` is `NAME_TAKEN` where there is an account of that name, which `details.accountId` and ' +
    '`details.accountNumber` name, and `IDEMPOTENCY_KEY_REUSED` where the key was used with another body',
  headers: REPLAYED_HEADER,
  examples: {
    'a name that is taken': exampleOf(ACCOUNT_API, nameTaken(existing)),
    'a key that was used with another body': exampleOf(ACCOUNT_API, keyReused(ACCOUNT_API, 'conflict')),
  },
};
