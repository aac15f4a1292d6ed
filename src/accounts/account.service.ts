import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { ACCOUNT_API } from '../contracts/accounts/account.api.js';
import type { CreateAccountRequest, CreateAccountResponse } from '../contracts/accounts/account.dto.js';
import { type AppError, apiError } from '../errors/app-error.js';
import type { Answer } from '../http/answer.js';
import { answerOnce } from '../idempotency/answer-once.js';
import type { Claim } from '../idempotency/claims.js';
import { keyReused } from '../idempotency/idempotency-key.js';
import { AccountEntity } from './account.entity.js';
import { newAccountRow, shownAccount } from './account-row.js';

/** The constraint that holds decision 27, whatever comes at the same time on however many instances. */
const NAME_TAKEN = 'accounts_name_taken';

/** Creates the accounts of haulers (sections 2.4, 2.5). */
@Injectable()
export class AccountService {
  constructor(private readonly dataSource: DataSource) {}

  /** `conflict` where the hauler has an account of that name, with its id and number (decisions 27, 28). */
  create(
    request: CreateAccountRequest,
    haulerId: string,
    claim: Claim | undefined,
  ): Promise<Answer<CreateAccountResponse | string>> {
    return answerOnce(
      this.dataSource,
      claim,
      () => keyReused(ACCOUNT_API, 'conflict'),
      (manager) => this.insert(manager, request, haulerId),
    );
  }

  private async insert(
    manager: EntityManager,
    request: CreateAccountRequest,
    haulerId: string,
  ): Promise<CreateAccountResponse | AppError> {
    const row = newAccountRow(request, haulerId, await nextAccountNumber(manager));
    const inserted = await manager
      .createQueryBuilder()
      .insert()
      .into(AccountEntity)
      .values(row)
      // An empty list of columns: ON CONFLICT ON CONSTRAINT … DO NOTHING.
      .orUpdate([], NAME_TAKEN)
      .returning('id')
      .updateEntity(false)
      .execute();
    if ((inserted.raw as unknown[]).length > 0) return shownAccount(row);
    const existing = await manager.findOneByOrFail(AccountEntity, { haulerId, nameDigest: row.nameDigest });
    return nameTaken(existing);
  }
}

/** Short, for people, unique in the platform; a request that comes to nothing leaves a gap (decision 29). */
async function nextAccountNumber(manager: EntityManager): Promise<string> {
  const [row] = await manager.query<[{ number: string }]>("SELECT nextval('account_numbers') AS number");
  return `A-${row.number}`;
}

export function nameTaken({ id, accountNumber }: Pick<AccountEntity, 'id' | 'accountNumber'>): AppError {
  return apiError(ACCOUNT_API, 'conflict', `the account ${accountNumber} has the same name`, {
    details: { reason: 'NAME_TAKEN', accountId: id, accountNumber },
  });
}
