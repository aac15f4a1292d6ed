import { CreateAccountResponse } from '../account/account.api.js';
import { Flag, Integer, Name, NestedList, OneOf, Text, Time, Uuid } from '../common/fields/decorators.js';
import { example, inQuery, max, min, optional } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';
import { ListQuery } from './list.dto.js';
import { DryRun, HAULER, HaulerId } from './fields.js';
import { type AdminRoutes, FOR_OPERATORS, FOR_VIEWERS, history, list, one, route } from './route-helpers.js';

/** The filters that a partner has too. */
export class AccountFilters extends ListQuery {
  @Name(
    'Part of the name, the account number or the e-mail address, without regard to case and spacing; one or two characters match the start of a word',
    max(200),
    optional,
  )
  search?: string;
}

export class AccountQuery extends AccountFilters {
  @Uuid('Accounts of this hauler only', optional) haulerId?: string;
  @Time('Accounts created at this time or later', inQuery, optional) from?: Instant;
  @Time('Accounts created before this time', inQuery, optional) to?: Instant;
}

/** The response to the partner (section 2.5) with the hauler. */
export class Account extends CreateAccountResponse {
  @HaulerId() haulerId!: string;
  @Time('When it was created') createdAt!: string;
  @Time('When it was last changed') updatedAt!: string;
}

/** Limits of one file. A row of an export has some 200 bytes. */
export const ACCOUNT_IMPORT_MAX_BYTES = 256 * 1024 * 1024;
export const ACCOUNT_IMPORT_MAX_ROWS = 1_100_000;

/** Rows that the answer lists. */
export const ACCOUNT_IMPORT_LISTED_ROWS = 1_000;

/** In the order in which the answer lists the rows: those that need a correction first. */
export const IMPORT_RESULTS = ['invalid', 'conflict', 'exists', 'created'] as const;
export type ImportResult = (typeof IMPORT_RESULTS)[number];

export class AccountImportQuery {
  @Uuid('Hauler whose customers the accounts are', example(HAULER)) haulerId!: string;
  @DryRun(inQuery) dryRun?: boolean;
}

class ImportViolation {
  @Text('The column', example('billingAddress.state')) path!: string;
  @Text('The violated rule', example('matches')) rule!: string;
  @Text('A sentence for a person', example('billingAddress.state must be a USPS state code in two upper-case letters'))
  message!: string;
}

export class AccountImportRow {
  @Integer('Line of the file at which the row begins; the first line has the columns', min(1), example(2))
  line!: number;
  @OneOf('What became of the row, or would in a dry run', IMPORT_RESULTS, example('created')) result!: ImportResult;
  @Text('Name of the account as the file has it', optional, example('Lone Star LLC')) accountName?: string;
  @Text('Id of the account', optional, example('019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d')) accountId?: string;
  @Text('Number of the account', optional, example('A-100042')) accountNumber?: string;
  @Integer('The earlier line with the same name', min(1), optional, example(2)) sameAsLine?: number;
  @NestedList('Why nothing is created', ImportViolation, optional) violations?: ImportViolation[];
}

export class AccountImport {
  @HaulerId() haulerId!: string;
  @Flag('Whether nothing was written', example(false)) dryRun!: boolean;
  @Integer('Rows of the file', example(1)) rows!: number;
  @Integer('Rows whose account was created', example(1)) created!: number;
  @Integer('Rows whose account exists already; it stays as it is', example(1)) exists!: number;
  @Integer('Rows with the number of another account', example(1)) conflict!: number;
  @Integer('Rows that violate a rule', example(1)) invalid!: number;
  @Flag('Whether `data` has every row') isComplete!: boolean;
  @NestedList(
    `Rows by result, in the order of the file: the invalid ones first, then those in conflict, those that exist, the created ones; at most ${ACCOUNT_IMPORT_LISTED_ROWS.toLocaleString('en')}`,
    AccountImportRow,
  )
  data!: AccountImportRow[];
}

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
