import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import { Account, type AccountQuery } from '../contracts/admin/account.dto.js';
import type { List } from '../contracts/admin/list.dto.js';
import { present } from '../contracts/common/present.js';
import { Database } from '../core/database/database.js';
import { entityPage } from '../core/database/list-page.js';
import { apiError } from '../core/errors/app-error.js';
import { AccountEntity } from './account.entity.js';
import { toAccountDto } from './account-row.js';
import { accountList } from './account.repository.js';

/** Accounts for the admin API. */
@Injectable()
export class AccountQueries {
  constructor(
    private readonly database: Database,
    private readonly dataSource: DataSource,
  ) {}

  /** Newest first. */
  async list(query: AccountQuery): Promise<List<Account>> {
    const list = accountList(query);
    const { rows, pagination } = await entityPage(this.database, this.dataSource, AccountEntity, list, query);
    return { data: rows.map(toAdminAccountDto), pagination };
  }

  async get(id: string): Promise<Account> {
    const row = await this.dataSource.manager.findOneBy(AccountEntity, { id });
    if (row === null) throw apiError(ADMIN_API, 'notFound', `there is no account ${id}`);
    return toAdminAccountDto(row);
  }
}

function toAdminAccountDto(row: AccountEntity): Account {
  return present(Account, { ...row, ...toAccountDto(row) });
}
