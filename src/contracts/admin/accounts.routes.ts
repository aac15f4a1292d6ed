import { ACCOUNT_IMPORT_MAX_BYTES, AccountImport, AccountImportQuery } from './account-import.dto.js';
import { Account, AccountQuery } from './account.dto.js';
import { type AdminRoutes, FOR_OPERATORS, FOR_VIEWERS, history, list, one, route } from './route-helpers.js';

/** Accounts that partners created. */
export const ACCOUNT_ROUTES = {
  listAccounts: list(FOR_VIEWERS, '/accounts', Account, AccountQuery, {
    summary: 'List accounts',
    description: 'Newest first.',
    csv: true,
  }),
  getAccount: one(FOR_VIEWERS, '/accounts/{id}', 'account', Account, {
    summary: 'Read an account',
    description: 'By its id, the `accountId` of the response to the partner.',
  }),
  importAccounts: route(FOR_OPERATORS, 'POST', '/accounts/import', {
    summary: 'Import accounts from a CSV',
    description:
      'UTF-8, with commas or semicolons, and with the columns of the export, of which `accountName` is required. Each row is created as if its partner sent it; a row whose name the hauler has already `exists` and changes nothing, so that a file can be imported again. A file that is no CSV is refused before anything is written. Up to 256 MiB and 1,100,000 rows, streamed.',
    query: AccountImportQuery,
    response: AccountImport,
    upload: { contentType: 'text/csv', maxBytes: ACCOUNT_IMPORT_MAX_BYTES },
    returns: 'The number of rows by result, and the rows, those to correct first',
    fails: {
      requestTimeout: 'The upload paused for too long',
      tooLarge: 'The file is larger than 256 MiB',
      unsupportedMediaType: 'The body is not `text/csv` in UTF-8, or has a content coding',
    },
    action: 'accounts.imported',
  }),
  listAccountHistory: history(
    '/accounts/{id}/history',
    'an account',
    'The calls that created it, repeated its creation or wanted its name.',
  ),
} as const satisfies AdminRoutes;
