import type { CreateAccountRequest, CreateAccountResponse } from '../contracts/account/account.api.js';
import { uuidv7 } from '../core/database/uuid.js';
import { AccountEntity } from './account.entity.js';
import { nameDigest, searchText } from './account-name.js';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import { Account, type AccountQuery } from '../contracts/admin/accounts.routes.js';
import type { List, ListQuery } from '../contracts/admin/list.dto.js';
import { present } from '../contracts/common/present.js';
import { Database } from '../core/database/database.js';
import { entityPage } from '../core/database/list-page.js';
import { apiError } from '../core/errors/app-error.js';
import { accountList } from './account.repository.js';
import type { HistoryEntry } from '../contracts/admin/history.dto.js';
import { exchangeEntry, ExchangeHistory, historyPage } from '../exchanges/exchange-history.service.js';

/** A new account as it is stored. An address or contact that was sent gets an id, even if it is empty (section 2.5). */
export function newAccountRow(request: CreateAccountRequest, haulerId: string, accountNumber: string): AccountEntity {
  const { accountName, billingAddress, primaryContact } = request;
  const now = new Date();
  return {
    haulerId,
    id: uuidv7(),
    accountNumber,
    accountName,
    nameDigest: nameDigest(accountName),
    searchText: searchText([accountName, accountNumber, primaryContact?.email]),
    addressId: billingAddress === undefined ? null : uuidv7(),
    street: billingAddress?.street ?? null,
    unit: billingAddress?.unit ?? null,
    city: billingAddress?.city ?? null,
    state: billingAddress?.state ?? null,
    country: billingAddress?.country ?? null,
    zip: billingAddress?.zip ?? null,
    contactId: primaryContact === undefined ? null : uuidv7(),
    firstName: primaryContact?.firstName ?? null,
    lastName: primaryContact?.lastName ?? null,
    email: primaryContact?.email ?? null,
    phone: primaryContact?.phone ?? null,
    createdAt: now,
    updatedAt: now,
  };
}

/** The response of section 2.5. Fields that were not sent are absent (decision 27). */
export function toAccountDto(row: AccountEntity): CreateAccountResponse {
  const { id: accountId, accountNumber, accountName, addressId, contactId } = row;
  const { street, unit, city, state, country, zip } = row;
  const { firstName, lastName, email, phone } = row;
  return {
    accountId,
    accountNumber,
    accountName,
    ...(addressId === null
      ? {}
      : { billingAddress: { addressId, ...withoutNulls({ street, unit, city, state, country, zip }) } }),
    ...(contactId === null
      ? {}
      : { primaryContact: { contactId, ...withoutNulls({ firstName, lastName, email, phone }) } }),
  };
}

function withoutNulls(fields: Readonly<Record<string, string | null>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== null));
}

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

/** The calls that created an account, repeated its creation or were refused because of its name. */
@Injectable()
export class AccountHistory {
  constructor(
    private readonly accounts: AccountQueries,
    private readonly exchanges: ExchangeHistory,
  ) {}

  /** Newest first. Calls are listed while their exchanges are kept, the creation always. */
  async list(id: string, query: ListQuery): Promise<List<HistoryEntry>> {
    const { haulerId, accountName, createdAt } = await this.accounts.get(id);
    const calls = await this.exchanges.find(haulerId, [
      { kind: 'accountId', value: id },
      { kind: 'accountName', value: accountName },
    ]);
    const entries = calls.map((call) => exchangeEntry(call));
    const isCreationKept = calls.some(({ result }) => result === 'created');
    const creation = { at: createdAt, event: 'state', text: 'The account was created.' } as const;
    return historyPage(id, isCreationKept ? entries : [...entries, creation], query);
  }
}
