import { Module, type OnModuleInit } from '@nestjs/common';
import { Database } from '../core/database/database.js';
import { ExchangeDecisions } from '../exchanges/exchange-decisions.service.js';
import { ExchangeQueries } from '../exchanges/exchange-queries.service.js';
import { ScaleController } from './scale.controller.js';
import { findPushDecisions } from './ticket-list.repository.js';
import { TicketHistory } from './ticket-history.service.js';
import { TicketQueries } from './ticket-queries.js';
import { TicketService } from './ticket.service.js';
import { TonnageReport } from './tonnage.service.js';
import { TicketWriter } from './ticket-writer.js';
import { WeighedTickets } from './weighed-tickets.js';

/**
 * The Scale API, hosted for partners: takes ticket pushes in any order, keeps the history of each ticket, and sums tonnage. It reads the
 * catalog of `site-sync`, and no other module of its level.
 */
@Module({
  controllers: [ScaleController],
  providers: [TicketService, TicketWriter, TicketQueries, TicketHistory, TonnageReport, WeighedTickets],
  exports: [TicketQueries, TicketHistory, TonnageReport, WeighedTickets],
})
export class ScaleModule implements OnModuleInit {
  constructor(
    private readonly tickets: TicketQueries,
    private readonly exchanges: ExchangeQueries,
    private readonly decisions: ExchangeDecisions,
    private readonly database: Database,
  ) {}

  onModuleInit(): void {
    this.exchanges.usePushes(this.tickets);
    this.decisions.use('createTicket', (calls) => findPushDecisions(this.database, calls));
  }
}
