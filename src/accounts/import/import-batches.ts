import {
  ACCOUNT_IMPORT_LISTED_ROWS,
  type AccountImport,
  type AccountImportQuery,
  type AccountImportRow,
  IMPORT_RESULTS,
  type ImportResult,
} from '../../contracts/admin/accounts.routes.js';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { CreateAccountRequest, CreateAccountResponse } from '../../contracts/account/account.api.js';
import { Database } from '../../core/database/database.js';
import { mayHaveCommitted } from '../../core/database/postgres-errors.js';
import { AppError } from '../../core/errors/app-error.js';
import { nameDigest } from '../account-name.js';
import { type AccountKey, accountsByName, accountsByNumber, analyzeAccounts } from '../account.repository.js';
import { AccountService } from '../account.service.js';
import type { ReadRow } from './account-columns.rules.js';

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

/** How often an overloaded service is asked again, and after which pause: a second, then two, and so on. */
const MAX_ATTEMPTS = 6;
const PAUSE_MS = 1_000;

/**
 * After so many created accounts the statistics are renewed, and again after ten times as many. While PostgreSQL expects a single account
 * of the hauler, it may look each name up by an index that reads all of them.
 */
const ANALYZE_ROWS = 250;

interface NamedRow extends ReadRow {
  readonly name: string;
}

type Outcome = Omit<AccountImportRow, 'line' | 'accountName'>;

/** Decides what becomes of the rows of a file, some hundred at a time. */
@Injectable()
export class ImportBatches {
  constructor(
    private readonly accounts: AccountService,
    private readonly database: Database,
  ) {}

  /** Takes the rows in their order, and reports each of them. */
  of(
    { haulerId, dryRun = false }: AccountImportQuery,
    report: ImportReport,
  ): (rows: readonly ReadRow[]) => Promise<void> {
    // Lines of the names that the file would create. They are stored where this is no dry run.
    const created = new Map<string, number>();
    let analyzeAt = ANALYZE_ROWS;
    return async (rows) => {
      const valid = rows.filter(({ violations }) => violations.length === 0).map(named);
      const conflicts = await this.conflicts(haulerId, valid);
      const firsts = firstsOf(valid.filter(({ line }) => !conflicts.has(line)));
      const known = await this.known(haulerId, firsts);
      const outcomes = dryRun ? foreseen(firsts, known, created) : await this.create(haulerId, firsts, known);
      const rest = new Map(
        valid.map((row) => [row.line, conflicts.get(row.line) ?? repeatedOf(row, firsts, outcomes)]),
      );
      for (const { line, request, violations } of rows) {
        const { accountName } = request;
        const outcome = rest.get(line) ?? { result: 'invalid', violations: [...violations] };
        report.add({ line, ...(accountName === undefined ? {} : { accountName }), ...outcome });
      }
      if (dryRun || report.counts.created < analyzeAt) return;
      analyzeAt *= 10;
      await analyzeAccounts(this.database.bulk);
    };
  }

  /** The rows with the number of an account of this hauler that has another name. */
  private async conflicts(haulerId: string, rows: readonly NamedRow[]): Promise<ReadonlyMap<number, Outcome>> {
    const numbers = rows.flatMap(({ accountNumber }) => accountNumber ?? []);
    const owners = numbers.length === 0 ? [] : await accountsByNumber(this.database, haulerId, numbers);
    const byNumber = new Map(owners.map((owner) => [owner.accountNumber, owner]));
    return new Map(
      rows.flatMap(({ line, accountNumber, name }) => {
        const owner = accountNumber === undefined ? undefined : byNumber.get(accountNumber);
        if (owner === undefined || keyOf(owner.nameDigest) === name) return [];
        const message = `accountNumber ${owner.accountNumber} is the number of ${JSON.stringify(owner.accountName)}, and an import changes no account: correct the name, or leave the number empty`;
        const violations = [{ path: 'accountNumber', rule: 'isSameAccount', message }];
        return [[line, { result: 'conflict', ...identityOf(owner), violations }]];
      }),
    );
  }

  /** The accounts that have the names already: most rows of a repeated import need nothing else. */
  private async known(haulerId: string, rows: ReadonlyMap<string, NamedRow>): Promise<ReadonlyMap<string, Outcome>> {
    const digests = [...rows.values()].map(({ request }) => nameDigest(request.accountName));
    const owners = await accountsByName(this.database, haulerId, digests);
    return new Map(owners.map((owner) => [keyOf(owner.nameDigest), { result: 'exists', ...identityOf(owner) }]));
  }

  /** All rows are settled before an error is thrown: nothing of a batch is written after its failure was reported. */
  private async create(
    haulerId: string,
    rows: ReadonlyMap<string, NamedRow>,
    known: ReadonlyMap<string, Outcome>,
  ): Promise<Map<number, Outcome>> {
    const settled = await Promise.allSettled(
      [...rows.values()].map(async ({ line, name, request }) => {
        return [line, known.get(name) ?? (await this.createOne(haulerId, request))] as const;
      }),
    );
    const outcomes = settled.map((each) => {
      if (each.status === 'rejected') throw each.reason;
      return each.value;
    });
    return new Map(outcomes);
  }

  private async createOne(haulerId: string, request: CreateAccountRequest): Promise<Outcome> {
    for (let attempt = 1; ; attempt++) {
      try {
        const { body } = await this.accounts.create(request, haulerId, undefined, {
          keyId: null,
          bodyBytes: sizeOf(request),
        });
        return { result: 'created', ...createdIdentity(body as CreateAccountResponse) };
      } catch (error) {
        const taken = takenOf(error);
        if (taken !== undefined) return { result: 'exists', ...taken };
        if (!isRefusedForNow(error) || attempt === MAX_ATTEMPTS) throw error;
        await delay(attempt * PAUSE_MS);
      }
    }
  }
}

/** What a creation would answer. `created` has the names of earlier rows. */
function foreseen(
  rows: ReadonlyMap<string, NamedRow>,
  known: ReadonlyMap<string, Outcome>,
  created: Map<string, number>,
): Map<number, Outcome> {
  const outcomes = new Map<number, Outcome>();
  for (const { name, line } of rows.values()) {
    const sameAsLine = created.get(name);
    const exists =
      known.get(name) ?? (sameAsLine === undefined ? undefined : ({ result: 'exists', sameAsLine } as const));
    if (exists === undefined) created.set(name, line);
    outcomes.set(line, exists ?? { result: 'created' });
  }
  return outcomes;
}

const keyOf = (digest: Buffer): string => digest.toString('latin1', 0, 16);

const named = (row: ReadRow): NamedRow => ({ ...row, name: keyOf(nameDigest(row.request.accountName)) });

/** The first row of each name. */
function firstsOf(rows: readonly NamedRow[]): ReadonlyMap<string, NamedRow> {
  const firsts = new Map<string, NamedRow>();
  for (const row of rows) if (!firsts.has(row.name)) firsts.set(row.name, row);
  return firsts;
}

/** The outcome of the first row of this name; a later one finds its account. */
function repeatedOf(
  { name, line }: NamedRow,
  firsts: ReadonlyMap<string, NamedRow>,
  outcomes: ReadonlyMap<number, Outcome>,
): Outcome | undefined {
  const first = firsts.get(name)?.line;
  const outcome = first === undefined ? undefined : outcomes.get(first);
  return outcome === undefined || first === line ? outcome : { sameAsLine: first, ...outcome, result: 'exists' };
}

const identityOf = ({ id, accountNumber }: AccountKey) => ({ accountId: id, accountNumber });
const createdIdentity = ({ accountId, accountNumber }: CreateAccountResponse) => ({ accountId, accountNumber });

/** As the interface counts the bytes of a body. */
const sizeOf = (request: CreateAccountRequest): number => JSON.stringify(request).length;

/** The account that has the name. */
function takenOf(error: unknown): { accountId: string; accountNumber: string } | undefined {
  if (!(error instanceof AppError) || error.details?.['reason'] !== 'NAME_TAKEN') return undefined;
  const { accountId, accountNumber } = error.details as Record<string, string>;
  return { accountId: accountId ?? '', accountNumber: accountNumber ?? '' };
}

/** The queue is full, a row is locked, or there was no result in time: what was stored all the same is found by its name. */
const isRefusedForNow = (error: unknown): boolean =>
  error instanceof AppError && error.kind === 'unavailable' && !mayHaveCommitted(error.cause);
