import { Injectable } from '@nestjs/common';
import { DataSource, In } from 'typeorm';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import type { Ticket, TicketQuery, TicketRevision } from '../contracts/admin/ticket.dto.js';
import { exactJson, JsonText } from '../contracts/common/exact-json.js';
import { formatInstant } from '../contracts/common/instant.js';
import { type PageQuery, pageRequest, paginationOf } from '../contracts/common/pagination.dto.js';
import type { FlowData } from '../contracts/scale/scale.dto.js';
import { countRows } from '../database/count.js';
import { apiError } from '../errors/app-error.js';
import type { JsonList } from '../http/json-list.js';
import { piecesOf, type RowSize } from './page-pieces.js';
import { TicketEntity } from './ticket.entity.js';
import { filterOfTickets } from './ticket-filter.js';
import { TicketRevisionEntity } from './ticket-revision.entity.js';

/** A DTO with its stored JSON unread. */
type Unread<Dto, Stored extends keyof Dto> = {
  readonly [Name in keyof Dto]: Name extends Stored ? JsonText : Dto[Name];
};

/**
 * What the administration reads of tickets, each as the JSON of its DTO. A page of pushes may be a hundred megabytes: it
 * is read piece by piece, as its reader takes it, and none of it is parsed.
 */
@Injectable()
export class TicketQueries {
  constructor(private readonly dataSource: DataSource) {}

  /** `Ticket`, the last received first. */
  async list(query: TicketQuery): Promise<JsonList> {
    const page = pageRequest(query);
    const { sql, parameters, few } = filterOfTickets(query);
    const total = await countRows(this.dataSource, sql, parameters);
    const ids = await this.dataSource.query<{ id: string }[]>(
      `WITH found AS ${few ? 'MATERIALIZED' : 'NOT MATERIALIZED'} (${sql})
       SELECT id FROM found ORDER BY id DESC LIMIT ${page.pageSize} OFFSET ${page.offset}`,
      [...parameters],
    );
    return { data: this.tickets(ids.map(({ id }) => id)), pagination: paginationOf(page, total) };
  }

  /** `Ticket`. */
  async get(id: string): Promise<string> {
    return shownTicket(await this.find(id));
  }

  /** `TicketRevision`, the kept pushes, oldest first. */
  async revisions(id: string, query: PageQuery): Promise<JsonList> {
    const page = pageRequest(query);
    const { haulerId, revision: total } = await this.find(id);
    // Revisions are counted from 1, without gaps.
    const first = Math.min(page.offset, total) + 1;
    const last = Math.min(page.offset + page.pageSize, total);
    return { data: this.pushes({ haulerId, ticketId: id }, first, last), pagination: paginationOf(page, total) };
  }

  private async find(id: string): Promise<TicketEntity> {
    const row = await this.dataSource.manager.findOneBy(TicketEntity, { id });
    if (row === null) throw apiError(ADMIN_API, 'notFound', `there is no ticket ${id}`);
    return row;
  }

  private async *tickets(ids: readonly string[]): AsyncGenerator<string> {
    const sizes = await this.dataSource.query<RowSize<string>[]>(
      `SELECT id, octet_length(materials) + coalesce(octet_length(custom_fields), 0) AS bytes
         FROM tickets WHERE id = ANY ($1) ORDER BY id DESC`,
      [ids],
    );
    for (const piece of piecesOf(sizes)) {
      const where = { id: In(piece) };
      const rows = await this.dataSource.manager.find(TicketEntity, { where, order: { id: 'DESC' } });
      yield* rows.map(shownTicket);
    }
  }

  private async *pushes(ticket: Pick<TicketRevisionEntity, 'haulerId' | 'ticketId'>, first: number, last: number) {
    const sizes = await this.dataSource.query<RowSize<number>[]>(
      `SELECT revision AS id, octet_length(body) AS bytes FROM ticket_revisions
        WHERE hauler_id = $1 AND ticket_id = $2 AND revision BETWEEN $3 AND $4 ORDER BY revision`,
      [ticket.haulerId, ticket.ticketId, first, last],
    );
    for (const piece of piecesOf(sizes)) {
      const where = { ...ticket, revision: In(piece) };
      const rows = await this.dataSource.manager.find(TicketRevisionEntity, { where, order: { revision: 'ASC' } });
      yield* rows.map(shownRevision);
    }
  }
}

function shownTicket(row: TicketEntity): string {
  const shown: Unread<Ticket, 'materials' | 'customFields'> = {
    id: row.id,
    haulerId: row.haulerId,
    siteId: row.siteId,
    materials: new JsonText(row.materials),
    inboundFlow: shownFlow(row.inboundNumber, row.inboundUpdatedAt),
    outboundFlow: shownFlow(row.outboundNumber, row.outboundUpdatedAt),
    customFields: row.customFields === null ? undefined : new JsonText(row.customFields),
    createdAt: formatInstant(row.createdAt),
    updatedAt: formatInstant(row.updatedAt),
  };
  return exactJson(shown);
}

function shownFlow(ticketNumber: string | null, updatedAt: Date | null): FlowData | undefined {
  if (ticketNumber === null || updatedAt === null) return undefined;
  return { ticketNumber, updatedAt: formatInstant(updatedAt) };
}

function shownRevision(row: TicketRevisionEntity): string {
  const shown: Unread<TicketRevision, 'body'> = {
    revision: row.revision,
    receivedAt: formatInstant(row.receivedAt),
    result: row.result,
    body: new JsonText(row.body),
  };
  return exactJson(shown);
}
