import { ACCOUNT_IMPORT_MAX_BYTES, AccountImport, AccountImportQuery } from './account-import.dto.js';
import { Account, AccountQuery } from './account.dto.js';
import { type AdminRoutes, history, read, table } from './route-parts.js';

/** Accounts that partners created. */
export const ACCOUNT_ROUTES = {
  listAccounts: {
    ...table(Account, 'accounts'),
    path: '/accounts',
    role: 'viewer',
    isPerHauler: true,
    summary: 'List accounts',
    description: 'Newest first.',
    query: AccountQuery,
  },
  getAccount: {
    ...read(Account, 'account'),
    path: '/accounts/{id}',
    role: 'viewer',
    isPerHauler: true,
    summary: 'Read an account',
    description: 'By its id, the `accountId` of the response to the partner.',
  },
  importAccounts: {
    method: 'POST',
    path: '/accounts/import',
    role: 'operator',
    isPerHauler: true,
    action: 'accounts.imported',
    summary: 'Import accounts from a CSV',
    description:
      'UTF-8, with commas or semicolons, and with the columns of the export, of which `accountName` is required. Each row is created as if its partner sent it; a row whose name the hauler has already `exists` and changes nothing, so that a file can be imported again. A file that is no CSV is refused before anything is written. Up to 256 MiB and 1,100,000 rows, streamed.',
    query: AccountImportQuery,
    upload: { contentType: 'text/csv', maxBytes: ACCOUNT_IMPORT_MAX_BYTES },
    status: 200,
    response: AccountImport,
    returns: 'The number of rows by result, and the rows, those to correct first',
    fails: {
      requestTimeout: 'The upload paused for too long',
      tooLarge: 'The file is larger than 256 MiB',
      unsupportedMediaType: 'The body is not `text/csv` in UTF-8, or has a content coding',
    },
  },
  listAccountHistory: history(
    '/accounts',
    'an account',
    'The calls that created it, repeated its creation or wanted its name.',
  ),
} as const satisfies AdminRoutes;
