import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import type { FootageFlow } from '../contracts/admin/footage.dto.js';
import { formatInstant } from '../contracts/common/instant.js';
import type { MaterialItem } from '../contracts/scale/scale.api.js';
import { Database } from '../core/database/database.js';
import { apiError } from '../core/errors/app-error.js';
import { TicketEntity } from './ticket.entity.js';
import { findWeighedTickets, type WeighedTicketRow } from './ticket-list.repository.js';

/** A ticket with the times of its weighings and the custom fields that may name its truck. */
export interface WeighedTicket {
  readonly id: string;
  readonly haulerId: string;
  /** The inbound flow first. */
  readonly flows: FootageFlow[];
  readonly customFields: Readonly<Record<string, string>>;
}

/** A ticket for people who have no account here. */
export interface TicketContents extends WeighedTicket {
  readonly siteId: string;
  readonly materials: readonly MaterialItem[];
}

/** Tickets by the times of their flows. */
@Injectable()
export class WeighedTickets {
  constructor(
    private readonly database: Database,
    private readonly dataSource: DataSource,
  ) {}

  /** Throws `notFound`. */
  async get(id: string): Promise<WeighedTicket> {
    const ticket = await this.contents(id);
    if (ticket === undefined) throw apiError(ADMIN_API, 'notFound', `there is no ticket ${id}`);
    return ticket;
  }

  async contents(id: string): Promise<TicketContents | undefined> {
    const row = await this.dataSource.manager.findOneBy(TicketEntity, { id });
    if (row === null) return undefined;
    return { ...toWeighed(row), siteId: row.siteId, materials: JSON.parse(row.materials) as MaterialItem[] };
  }

  /** Of a hauler, with a flow between two times, and with a text anywhere in their custom fields. */
  async between(haulerId: string, from: Date, to: Date, text: string): Promise<WeighedTicket[]> {
    return (await findWeighedTickets(this.database, haulerId, [from, to], text)).map(toWeighed);
  }
}

function toWeighed(row: WeighedTicketRow): WeighedTicket {
  const { id, haulerId, inboundNumber, inboundUpdatedAt, outboundNumber, outboundUpdatedAt, customFields } = row;
  return {
    id,
    haulerId,
    flows: [
      ...flowsOf('inbound', inboundNumber, inboundUpdatedAt),
      ...flowsOf('outbound', outboundNumber, outboundUpdatedAt),
    ],
    customFields: customFields === null ? {} : (JSON.parse(customFields) as Record<string, string>),
  };
}

const flowsOf = (flow: FootageFlow['flow'], ticketNumber: string | null, time: Date | null): FootageFlow[] =>
  ticketNumber === null || time === null ? [] : [{ flow, ticketNumber, time: formatInstant(time) }];
