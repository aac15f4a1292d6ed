import { Module } from '@nestjs/common';
import { CatalogModule } from '../site-sync/catalog/catalog.module.js';
import { NewTickets } from './new-tickets.js';
import { ScaleController } from './scale.controller.js';
import { ScaleService } from './scale.service.js';
import { TicketIngestion } from './ticket-ingestion.js';
import { TicketQueries } from './ticket-queries.js';
import { TicketWriter } from './ticket-writer.js';

/** The Scale API, hosted for partners. */
@Module({
  imports: [CatalogModule],
  controllers: [ScaleController],
  providers: [ScaleService, TicketIngestion, TicketWriter, NewTickets, TicketQueries],
  exports: [TicketQueries],
})
export class ScaleModule {}
