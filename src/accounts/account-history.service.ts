import { Injectable } from '@nestjs/common';
import type { HistoryEntry } from '../contracts/admin/history.dto.js';
import type { List, ListQuery } from '../contracts/admin/list.dto.js';
import { exchangeEntry, ExchangeHistory, historyPage } from '../exchanges/exchange-history.service.js';
import { AccountQueries } from './account-queries.js';

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
