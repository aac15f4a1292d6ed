import { Injectable } from '@nestjs/common';
import { Between, DataSource, In } from 'typeorm';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import type { List } from '../contracts/admin/list.dto.js';
import type { Ticket, TicketQuery, TicketRevision } from '../contracts/admin/ticket.dto.js';
import { readExactly } from '../contracts/common/exact-json.js';
import { formatInstant } from '../contracts/common/instant.js';
import { type PageQuery, pageRequest, paginationOf } from '../contracts/common/pagination.dto.js';
import type { FlowData, MaterialItem } from '../contracts/scale/scale.dto.js';
import { countRows } from '../database/count.js';
import { apiError } from '../errors/app-error.js';
import { TicketEntity } from './ticket.entity.js';
import { filterOfTickets } from './ticket-page.js';
import { TicketRevisionEntity } from './ticket-revision.entity.js';

/** What the administration reads of tickets. */
@Injectable()
export class TicketQueries {
  constructor(private readonly dataSource: DataSource) {}

  /** The last received first. */
  async list(query: TicketQuery): Promise<List<Ticket>> {
    const page = pageRequest(query);
    const { sql, parameters, few } = filterOfTickets(query);
    const total = await countRows(this.dataSource, sql, parameters);
    const ids = await this.dataSource.query<{ id: string }[]>(
      `WITH found AS ${few ? 'MATERIALIZED' : 'NOT MATERIALIZED'} (${sql})
       SELECT id FROM found ORDER BY id DESC LIMIT ${page.pageSize} OFFSET ${page.offset}`,
      [...parameters],
    );
    const rows = await this.dataSource.manager.find(TicketEntity, {
      where: { id: In(ids.map(({ id }) => id)) },
      order: { id: 'DESC' },
    });
    return { data: rows.map(shownTicket), pagination: paginationOf(page, total) };
  }

  async get(id: string): Promise<Ticket> {
    return shownTicket(await this.find(id));
  }

  /** The kept pushes, oldest first. */
  async revisions(id: string, query: PageQuery): Promise<List<TicketRevision>> {
    const page = pageRequest(query);
    const { haulerId, revision: total } = await this.find(id);
    // Revisions are counted from 1, without gaps.
    const last = Math.min(page.offset + page.pageSize, total);
    const rows = await this.dataSource.manager.find(TicketRevisionEntity, {
      where: { haulerId, ticketId: id, revision: Between(Math.min(page.offset, total) + 1, last) },
      order: { revision: 'ASC' },
    });
    return { data: rows.map(shownRevision), pagination: paginationOf(page, total) };
  }

  private async find(id: string): Promise<TicketEntity> {
    const row = await this.dataSource.manager.findOneBy(TicketEntity, { id });
    if (row === null) throw apiError(ADMIN_API, 'notFound', `there is no ticket ${id}`);
    return row;
  }
}

function shownTicket(row: TicketEntity): Ticket {
  const inboundFlow = shownFlow(row.inboundNumber, row.inboundUpdatedAt);
  const outboundFlow = shownFlow(row.outboundNumber, row.outboundUpdatedAt);
  return {
    id: row.id,
    haulerId: row.haulerId,
    siteId: row.siteId,
    materials: readExactly(row.materials) as MaterialItem[],
    ...(inboundFlow === undefined ? {} : { inboundFlow }),
    ...(outboundFlow === undefined ? {} : { outboundFlow }),
    ...(row.customFields === null ? {} : { customFields: readExactly(row.customFields) as Record<string, string> }),
    createdAt: formatInstant(row.createdAt),
    updatedAt: formatInstant(row.updatedAt),
  };
}

function shownFlow(ticketNumber: string | null, updatedAt: Date | null): FlowData | undefined {
  if (ticketNumber === null || updatedAt === null) return undefined;
  return { ticketNumber, updatedAt: formatInstant(updatedAt) };
}

function shownRevision(row: TicketRevisionEntity): TicketRevision {
  return {
    revision: row.revision,
    receivedAt: formatInstant(row.receivedAt),
    result: row.result,
    body: readExactly(row.body),
  };
}
