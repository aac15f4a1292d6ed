import {
  ACCOUNT_IMPORT_LISTED_ROWS,
  type AccountImport,
  type AccountImportQuery,
  type AccountImportRow,
  IMPORT_RESULTS,
  type ImportResult,
} from '../../contracts/admin/account-import.dto.js';

type Counts = Record<ImportResult, number>;

/** What became of the rows: every row is counted, and the first ones of each result are listed. */
export class ImportReport {
  readonly counts: Counts = { invalid: 0, conflict: 0, exists: 0, created: 0 };
  private readonly listed: Readonly<Record<ImportResult, AccountImportRow[]>> = {
    invalid: [],
    conflict: [],
    exists: [],
    created: [],
  };

  add(row: AccountImportRow): void {
    this.counts[row.result] += 1;
    const rows = this.listed[row.result];
    if (rows.length < ACCOUNT_IMPORT_LISTED_ROWS) rows.push(row);
  }

  get rows(): number {
    return IMPORT_RESULTS.reduce((sum, result) => sum + this.counts[result], 0);
  }

  of({ haulerId, dryRun = false }: AccountImportQuery): AccountImport {
    const { rows } = this;
    const data = IMPORT_RESULTS.flatMap((result) => this.listed[result]).slice(0, ACCOUNT_IMPORT_LISTED_ROWS);
    return { haulerId, dryRun, rows, ...this.counts, isComplete: data.length === rows, data };
  }
}
