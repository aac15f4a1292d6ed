import { ArrayField } from '../common/fields/nested-fields.js';
import {
  BooleanField,
  EnumField,
  IntegerField,
  NameField,
  TextField,
  UuidField,
} from '../common/fields/scalar-fields.js';

const HAULER_ID = '5f0c1f2e-7a3b-4c8d-9e10-112233445566';

/** Limits of one file. A row of an export has some 200 bytes. */
export const ACCOUNT_IMPORT_MAX_BYTES = 256 * 1024 * 1024;
export const ACCOUNT_IMPORT_MAX_ROWS = 1_100_000;

/** Rows that the answer lists. */
export const ACCOUNT_IMPORT_LISTED_ROWS = 1_000;

/** In the order in which the answer lists the rows: those that need a correction first. */
export const IMPORT_RESULTS = ['invalid', 'conflict', 'exists', 'created'] as const;
export type ImportResult = (typeof IMPORT_RESULTS)[number];

export class AccountImportQuery {
  @UuidField({ description: 'Hauler whose customers the accounts are', example: HAULER_ID })
  haulerId!: string;

  @BooleanField({ description: 'Say what would happen, and write nothing', inQuery: true, optional: true })
  dryRun?: boolean;
}

export class ImportViolation {
  @TextField({ description: 'The column', max: 4_096, example: 'billingAddress.state' })
  path!: string;

  @TextField({ description: 'The violated rule', max: 64, example: 'matches' })
  rule!: string;

  @TextField({
    description: 'A sentence for a person',
    max: 100_000,
    example: 'billingAddress.state must be a USPS state code in two upper-case letters',
  })
  message!: string;
}

const LINE = { min: 1, max: Number.MAX_SAFE_INTEGER };

export class AccountImportRow {
  @IntegerField({
    description: 'Line of the file at which the row begins; the first line has the columns',
    ...LINE,
    example: 2,
  })
  line!: number;

  @EnumField({
    description: 'What became of the row, or would in a dry run',
    values: IMPORT_RESULTS,
    example: 'created',
  })
  result!: ImportResult;

  @NameField({
    description: 'Name of the account as the file has it',
    max: 200,
    optional: true,
    example: 'Lone Star LLC',
  })
  accountName?: string;

  @TextField({
    description: 'Id of the account',
    max: 36,
    optional: true,
    example: '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d',
  })
  accountId?: string;

  @TextField({ description: 'Number of the account', max: 22, optional: true, example: 'A-100042' })
  accountNumber?: string;

  @IntegerField({ description: 'The earlier line with the same name', ...LINE, optional: true, example: 2 })
  sameAsLine?: number;

  @ArrayField(() => ImportViolation, { description: 'Why nothing is created', optional: true, max: 100 })
  violations?: ImportViolation[];
}

const count = (description: string) => IntegerField({ description, min: 0, max: Number.MAX_SAFE_INTEGER, example: 1 });

export class AccountImport {
  @UuidField({ description: 'The hauler', example: HAULER_ID })
  haulerId!: string;

  @BooleanField({ description: 'Whether nothing was written', example: false })
  dryRun!: boolean;

  @count('Rows of the file')
  rows!: number;

  @count('Rows whose account was created')
  created!: number;

  @count('Rows whose account exists already; it stays as it is')
  exists!: number;

  @count('Rows with the number of another account')
  conflict!: number;

  @count('Rows that violate a rule')
  invalid!: number;

  @BooleanField({ description: 'Whether `data` has every row', example: true })
  isComplete!: boolean;

  @ArrayField(() => AccountImportRow, {
    description: `Rows by result, in the order of the file: the invalid ones first, then those in conflict, those that exist, the created ones; at most ${ACCOUNT_IMPORT_LISTED_ROWS.toLocaleString('en')}`,
    max: ACCOUNT_IMPORT_LISTED_ROWS,
  })
  data!: AccountImportRow[];
}
