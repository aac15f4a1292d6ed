import { Flag, Integer, NestedList, OneOf, Text, Uuid } from '../common/fields/decorators.js';
import { example, inQuery, min, optional } from '../common/fields/options.js';
import { DryRun, HAULER, HaulerId } from './fields.js';

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

export class ImportViolation {
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
