import { Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { AdminApi } from '../auth/admin-api.js';
import { IdParam, List, listOf } from '../contracts/admin/list.dto.js';
import { Ticket, TicketQuery, TicketRevision } from '../contracts/admin/ticket.dto.js';
import { PageQuery } from '../contracts/common/pagination.dto.js';
import { TicketQueries } from '../scale/ticket-queries.js';

@AdminApi('tickets')
export class TicketsController {
  constructor(private readonly tickets: TicketQueries) {}

  @Get()
  @ApiOperation({ summary: 'List tickets', description: 'The last received first.' })
  @ApiOkResponse({ description: 'A page of tickets', type: listOf(Ticket) })
  list(@Query() query: TicketQuery): Promise<List<Ticket>> {
    return this.tickets.list(query);
  }

  @Get(':id')
  @ApiOperation({
    summary: 'Read a ticket',
    description: 'By its id, the `disposalTicketId` of the answer to the partner.',
  })
  @ApiOkResponse({ description: 'The ticket as it stands', type: Ticket })
  get(@Param() { id }: IdParam): Promise<Ticket> {
    return this.tickets.get(id);
  }

  @Get(':id/revisions')
  @ApiOperation({ summary: "List a ticket's pushes", description: 'Every kept push as it was sent, oldest first.' })
  @ApiOkResponse({ description: 'A page of pushes', type: listOf(TicketRevision) })
  revisions(@Param() { id }: IdParam, @Query() query: PageQuery): Promise<List<TicketRevision>> {
    return this.tickets.revisions(id, query);
  }
}
