import { Controller, Param, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AccountHistory, AccountQueries } from '../accounts/account-queries.js';
import { AccountImports } from '../accounts/import/account-import.service.js';
import { Route } from '../auth/route.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import { ACCOUNT_IMPORT_MAX_BYTES, AccountImportQuery, AccountQuery } from '../contracts/admin/accounts.routes.js';
import { IdParam, ListQuery } from '../contracts/admin/list.dto.js';
import { TicketQuery, TonnageQuery } from '../contracts/admin/tickets.routes.js';
import { acceptsStream, listAnswer, streamedAnswer } from '../core/http/list-answer.js';
import { jsonText, longWork, streamedList } from '../core/http/answer.js';
import { readCsv } from '../core/http/body-reader.js';
import { TicketHistory } from '../scale/ticket-history.service.js';
import { TicketQueries } from '../scale/ticket-queries.js';
import { TonnageReport } from '../scale/tonnage.service.js';

/** The handler sets headers only; Nest still sends what it returns. */
const PASSTHROUGH = { passthrough: true };

/** Tickets and accounts that partners pushed. */
@Controller()
export class TicketsController {
  constructor(
    private readonly tickets: TicketQueries,
    private readonly ticketHistory: TicketHistory,
    private readonly accounts: AccountQueries,
    private readonly accountHistory: AccountHistory,
    private readonly tonnage: TonnageReport,
    private readonly imports: AccountImports,
  ) {}

  @Route(ADMIN_API, 'listTickets')
  async list(@Query() query: TicketQuery, @Req() request: Request, @Res(PASSTHROUGH) response: Response) {
    if (acceptsStream(request)) return streamedAnswer(request, query, (part) => this.tickets.list(part));
    return streamedList(response, await this.tickets.list(query));
  }

  @Route(ADMIN_API, 'getTicket')
  async get(@Param() { id }: IdParam, @Res(PASSTHROUGH) response: Response) {
    return jsonText(response, await this.tickets.get(id));
  }

  @Route(ADMIN_API, 'listTicketRevisions')
  async revisions(@Param() { id }: IdParam, @Query() query: ListQuery, @Res(PASSTHROUGH) response: Response) {
    return streamedList(response, await this.tickets.revisions(id, query));
  }

  @Route(ADMIN_API, 'listTicketHistory')
  history(@Param() { id }: IdParam, @Query() query: ListQuery) {
    return this.ticketHistory.list(id, query);
  }

  @Route(ADMIN_API, 'getTonnage')
  getTonnage(@Query() query: TonnageQuery, @Req() request: Request) {
    return listAnswer(request, query, () => this.tonnage.of(query));
  }

  @Route(ADMIN_API, 'listAccounts')
  listAccounts(@Query() query: AccountQuery, @Req() request: Request) {
    return listAnswer(request, query, (part) => this.accounts.list(part));
  }

  @Route(ADMIN_API, 'getAccount')
  getAccount(@Param() { id }: IdParam) {
    return this.accounts.get(id);
  }

  @Route(ADMIN_API, 'importAccounts')
  importAccounts(@Query() query: AccountImportQuery, @Req() request: Request, @Res(PASSTHROUGH) response: Response) {
    const bytes = readCsv(request, ACCOUNT_IMPORT_MAX_BYTES);
    return longWork(response, (signal) => this.imports.run(query, bytes, signal));
  }

  @Route(ADMIN_API, 'listAccountHistory')
  listAccountHistory(@Param() { id }: IdParam, @Query() query: ListQuery) {
    return this.accountHistory.list(id, query);
  }
}
