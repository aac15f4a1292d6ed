import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ACCOUNT_API } from '../contracts/account/account.api.js';
import type { CreateAccountRequest, CreateAccountResponse } from '../contracts/account/account.dto.js';
import type { Querying } from '../database/querying.js';
import { type AppError, apiError } from '../errors/app-error.js';
import type { Answer } from '../http/answer.js';
import { answerOnce } from '../idempotency/answer-once.js';
import type { Claim } from '../idempotency/idempotency.repository.js';
import { keyReused } from '../idempotency/idempotency-key.js';
import { newAccountRow, toAccountDto } from './account-row.js';
import type { AccountEntity } from './account.entity.js';
import { insertAccount, reserveAccountNumbers } from './account.repository.js';

/** An account number costs a round trip, so each instance reserves some. A restart leaves a gap, which decision 29 allows. */
const RESERVED_NUMBERS = 20;

/** Creates the accounts of haulers (sections 2.4, 2.5). */
@Injectable()
export class AccountService {
  private readonly numbers: string[] = [];

  constructor(private readonly dataSource: DataSource) {}

  /** Rejects with `conflict` if the hauler has an account of that name, with its id and number (decisions 27, 28). */
  create(
    request: CreateAccountRequest,
    haulerId: string,
    claim: Claim | undefined,
  ): Promise<Answer<CreateAccountResponse | string>> {
    return answerOnce(
      this.dataSource,
      claim,
      () => keyReused(ACCOUNT_API, 'conflict'),
      (database) => this.insert(database, request, haulerId),
    );
  }

  private async insert(
    database: Querying,
    request: CreateAccountRequest,
    haulerId: string,
  ): Promise<CreateAccountResponse | AppError> {
    const row = newAccountRow(request, haulerId, await this.nextNumber(database));
    const account = await insertAccount(database, row);
    return account.id === row.id ? toAccountDto(row) : nameTaken(account);
  }

  private async nextNumber(database: Querying): Promise<string> {
    let number = this.numbers.shift();
    while (number === undefined) {
      this.numbers.push(...(await reserveAccountNumbers(database, RESERVED_NUMBERS)));
      number = this.numbers.shift();
    }
    return number;
  }
}

export function nameTaken({ id, accountNumber }: Pick<AccountEntity, 'id' | 'accountNumber'>): AppError {
  return apiError(ACCOUNT_API, 'conflict', `the account ${accountNumber} has the same name`, {
    details: { reason: 'NAME_TAKEN', accountId: id, accountNumber },
  });
}
