import { Injectable } from '@nestjs/common';
import { DataSource, In } from 'typeorm';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import type { Account, AccountQuery } from '../contracts/admin/account.dto.js';
import type { List } from '../contracts/admin/list.dto.js';
import { formatInstant } from '../contracts/common/instant.js';
import { pageRequest, paginationOf } from '../contracts/common/pagination.dto.js';
import { PageMarks } from '../database/page-marks.js';
import { inTransaction } from '../database/transaction.js';
import { apiError } from '../errors/app-error.js';
import { AccountEntity } from './account.entity.js';
import { toAccountDto } from './account-row.js';
import { findAccountPage } from './account.repository.js';

/** Accounts for the admin API. */
@Injectable()
export class AccountQueries {
  private readonly marks = new PageMarks();

  constructor(private readonly dataSource: DataSource) {}

  /** Newest first. */
  async list(query: AccountQuery): Promise<List<Account>> {
    const page = pageRequest(query);
    return await inTransaction(this.dataSource, async (manager) => {
      const { total, ids } = await findAccountPage(manager, query, page, this.marks);
      const rows = await manager.find(AccountEntity, { where: { id: In(ids) }, order: { id: 'DESC' } });
      return { data: rows.map(toAdminAccountDto), pagination: paginationOf(page, total) };
    });
  }

  async get(id: string): Promise<Account> {
    const row = await this.dataSource.manager.findOneBy(AccountEntity, { id });
    if (row === null) throw apiError(ADMIN_API, 'notFound', `there is no account ${id}`);
    return toAdminAccountDto(row);
  }
}

function toAdminAccountDto(row: AccountEntity): Account {
  return {
    ...toAccountDto(row),
    haulerId: row.haulerId,
    createdAt: formatInstant(row.createdAt),
    updatedAt: formatInstant(row.updatedAt),
  };
}
