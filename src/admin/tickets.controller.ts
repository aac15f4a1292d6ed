import { Get, Param, Query, Res, type StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { Response } from 'express';
import { AdminApi } from '../auth/admin-api.js';
import { IdParam, listOf } from '../contracts/admin/list.dto.js';
import { Ticket, TicketQuery, TicketRevision } from '../contracts/admin/ticket.dto.js';
import { PageQuery } from '../contracts/common/pagination.dto.js';
import { jsonText } from '../http/answer.js';
import { streamedList } from '../http/json-list.js';
import { FailsWith } from '../http/route-documentation.js';
import { TicketQueries } from '../scale/ticket-queries.js';

/** The response is for its headers: what a route returns is still sent by Nest. */
const ANSWERED = { passthrough: true };
const UNKNOWN = { notFound: 'There is no such ticket' };

@AdminApi('tickets')
export class TicketsController {
  constructor(private readonly tickets: TicketQueries) {}

  @Get()
  @ApiOperation({ summary: 'List tickets', description: 'The last received first.' })
  @ApiOkResponse({ description: 'A page of tickets', type: listOf(Ticket) })
  async list(@Query() query: TicketQuery, @Res(ANSWERED) response: Response): Promise<StreamableFile> {
    return streamedList(response, await this.tickets.list(query));
  }

  @Get(':id')
  @ApiOperation({
    summary: 'Read a ticket',
    description: 'By its id, the `disposalTicketId` of the answer to the partner.',
  })
  @ApiOkResponse({ description: 'The ticket as it stands', type: Ticket })
  @FailsWith(UNKNOWN)
  async get(@Param() { id }: IdParam, @Res(ANSWERED) response: Response): Promise<string> {
    return jsonText(response, await this.tickets.get(id));
  }

  @Get(':id/revisions')
  @ApiOperation({ summary: "List a ticket's pushes", description: 'Every kept push as it was sent, oldest first.' })
  @ApiOkResponse({ description: 'A page of pushes', type: listOf(TicketRevision) })
  @FailsWith(UNKNOWN)
  async revisions(
    @Param() { id }: IdParam,
    @Query() query: PageQuery,
    @Res(ANSWERED) response: Response,
  ): Promise<StreamableFile> {
    return streamedList(response, await this.tickets.revisions(id, query));
  }
}
