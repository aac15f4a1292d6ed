import { Param, Query, Res, type StreamableFile } from '@nestjs/common';
import type { Response } from 'express';
import { AccountHistory } from '../accounts/account-history.service.js';
import { AccountQueries } from '../accounts/account-queries.js';
import { AdminController, AdminRoute } from '../auth/admin-api.js';
import { Account, AccountQuery } from '../contracts/admin/account.dto.js';
import { HistoryEntry } from '../contracts/admin/history.dto.js';
import { IdParam, List, ListQuery } from '../contracts/admin/list.dto.js';
import { TicketQuery } from '../contracts/admin/ticket.dto.js';
import { jsonText, streamedList } from '../http/answer.js';
import { TicketHistory } from '../scale/ticket-history.service.js';
import { TicketQueries } from '../scale/ticket-queries.js';

/** The handler sets headers only; Nest still sends what it returns. */
const PASSTHROUGH = { passthrough: true };

/** Tickets and accounts that partners pushed. */
@AdminController()
export class TicketsController {
  constructor(
    private readonly tickets: TicketQueries,
    private readonly ticketHistory: TicketHistory,
    private readonly accounts: AccountQueries,
    private readonly accountHistory: AccountHistory,
  ) {}

  @AdminRoute('listTickets')
  async list(@Query() query: TicketQuery, @Res(PASSTHROUGH) response: Response): Promise<StreamableFile> {
    return streamedList(response, await this.tickets.list(query));
  }

  @AdminRoute('getTicket')
  async get(@Param() { id }: IdParam, @Res(PASSTHROUGH) response: Response): Promise<string> {
    return jsonText(response, await this.tickets.get(id));
  }

  @AdminRoute('listTicketRevisions')
  async revisions(
    @Param() { id }: IdParam,
    @Query() query: ListQuery,
    @Res(PASSTHROUGH) response: Response,
  ): Promise<StreamableFile> {
    return streamedList(response, await this.tickets.revisions(id, query));
  }

  @AdminRoute('listTicketHistory')
  history(@Param() { id }: IdParam, @Query() query: ListQuery): Promise<List<HistoryEntry>> {
    return this.ticketHistory.list(id, query);
  }

  @AdminRoute('listAccounts')
  listAccounts(@Query() query: AccountQuery): Promise<List<Account>> {
    return this.accounts.list(query);
  }

  @AdminRoute('getAccount')
  getAccount(@Param() { id }: IdParam): Promise<Account> {
    return this.accounts.get(id);
  }

  @AdminRoute('listAccountHistory')
  listAccountHistory(@Param() { id }: IdParam, @Query() query: ListQuery): Promise<List<HistoryEntry>> {
    return this.accountHistory.list(id, query);
  }
}
