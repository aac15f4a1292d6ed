import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ACCOUNT_API } from '../contracts/account/account.api.js';
import type { CreateAccountRequest, CreateAccountResponse } from '../contracts/account/account.dto.js';
import { BATCH_LIMITS, Batcher, type Entry } from '../database/batcher.js';
import type { Querying } from '../database/sql.js';
import { onConnection } from '../database/transaction.js';
import { isDatabaseUnavailable, isLostStatement } from '../database/postgres-errors.js';
import { AppError, apiError } from '../errors/app-error.js';
import type { Answer } from '../http/answer.js';
import { answerOnce, keyReused } from '../idempotency/idempotency-key.js';
import type { Claim } from '../idempotency/idempotency.repository.js';
import { newAccountRow, toAccountDto } from './account-row.js';
import type { AccountEntity } from './account.entity.js';
import { type AccountKey, insertAccounts, reserveAccountNumbers } from './account.repository.js';

/** Account numbers cost a round trip, so each instance reserves some. A restart leaves a gap, which decision 29 allows. */
const RESERVED_NUMBERS = 200;

interface Creation {
  readonly request: CreateAccountRequest;
  readonly haulerId: string;
}

/** The key that the caller sent, and the size of the body. */
export interface CreationOrigin {
  readonly keyId?: string | null;
  readonly bodyBytes?: number;
}

type AccountEntry = Entry<Creation, CreateAccountResponse>;
type AccountAnswer = Answer<CreateAccountResponse | string>;
type Result = CreateAccountResponse | AppError;

/** Creates the accounts of haulers (sections 2.4, 2.5), many in one statement (docs/adr/0005). */
@Injectable()
export class AccountService {
  private readonly numbers: string[] = [];
  private readonly batcher = new Batcher<Creation, CreateAccountResponse>(
    { ...BATCH_LIMITS, overload: 'accounts' },
    (entries) => this.createAll(entries),
  );

  constructor(private readonly dataSource: DataSource) {}

  /** Rejects with `conflict` if the hauler has an account of that name, with its id and number (decisions 27, 28). */
  async create(
    request: CreateAccountRequest,
    haulerId: string,
    claim: Claim | undefined,
    { keyId = '', bodyBytes = 0 }: CreationOrigin = {},
  ): Promise<AccountAnswer> {
    const creation = { request, haulerId };
    if (claim === undefined) {
      return {
        status: 200,
        headers: {},
        body: await this.batcher.submit(creation, bodyBytes, [haulerId, keyId ?? '']),
      };
    }
    return answerOnce(
      this.dataSource,
      claim,
      () => keyReused(ACCOUNT_API, 'conflict'),
      (database) => this.insert(database, creation),
    );
  }

  private async createAll(entries: readonly AccountEntry[]): Promise<void> {
    const rows = await this.rowsOf(
      this.dataSource,
      entries.map(({ value }) => value),
    );
    await this.insertAll(entries, rows);
  }

  /**
   * After an unexpected error it halves the batch, so that a bad entry fails alone. The rows keep their ids: one that was
   * inserted before the error is found again.
   */
  private async insertAll(entries: readonly AccountEntry[], rows: readonly AccountEntity[]): Promise<void> {
    try {
      const owners = await prepared(this.dataSource, (database) => insertAccounts(database, rows));
      entries.forEach((entry, i) => settle(entry, resultOf(rows[i]!, owners[i]!)));
    } catch (error) {
      // If the connection was lost, the commit may have succeeded: only the caller can decide to create the account again.
      if (entries.length === 1 || isDatabaseUnavailable(error)) {
        for (const entry of entries) entry.reject(error);
        return;
      }
      const half = entries.length >> 1;
      await this.insertAll(entries.slice(0, half), rows.slice(0, half));
      await this.insertAll(entries.slice(half), rows.slice(half));
    }
  }

  private async insert(database: Querying, creation: Creation): Promise<Result> {
    const [row] = await this.rowsOf(database, [creation]);
    const [owner] = await insertAccounts(database, [row!]);
    return resultOf(row!, owner!);
  }

  private async rowsOf(database: Querying, creations: readonly Creation[]): Promise<AccountEntity[]> {
    const numbers = await this.takeNumbers(database, creations.length);
    return creations.map(({ request, haulerId }, i) => newAccountRow(request, haulerId, numbers[i]!));
  }

  private async takeNumbers(database: Querying, count: number): Promise<string[]> {
    while (this.numbers.length < count) {
      this.numbers.push(...(await reserveAccountNumbers(database, RESERVED_NUMBERS)));
    }
    return this.numbers.splice(0, count);
  }
}

/** PostgreSQL parses and plans a prepared statement once. One that a pooler has lost was not executed. */
async function prepared<T>(dataSource: DataSource, work: (database: Querying) => Promise<T>): Promise<T> {
  const run = () => onConnection(dataSource, work, { prepared: true });
  try {
    return await run();
  } catch (error) {
    if (!isLostStatement(error)) throw error;
    return run();
  }
}

const resultOf = (row: AccountEntity, owner: AccountKey): Result =>
  owner.id === row.id ? toAccountDto(row) : nameTaken(owner);

function settle(entry: AccountEntry, result: Result): void {
  if (result instanceof AppError) entry.reject(result);
  else entry.resolve(result);
}

export function nameTaken({ id, accountNumber }: AccountKey): AppError {
  return apiError(ACCOUNT_API, 'conflict', `the account ${accountNumber} has the same name`, {
    details: { reason: 'NAME_TAKEN', accountId: id, accountNumber },
  });
}
