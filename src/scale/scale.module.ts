import { Module } from '@nestjs/common';
import { ScaleController } from './scale.controller.js';
import { TicketQueries } from './ticket-queries.js';
import { TicketService } from './ticket.service.js';
import { TicketWriter } from './ticket-writer.js';

/** The Scale API, hosted for partners. */
@Module({
  controllers: [ScaleController],
  providers: [TicketService, TicketWriter, TicketQueries],
  exports: [TicketQueries],
})
export class ScaleModule {}
