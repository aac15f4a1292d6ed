import type { RowOf } from '../database/sql-rows.js';
import type { REVISION, TICKET, TicketColumn } from './ticket-sql.js';
import type { Flow, Revision, Ticket } from './ticket.js';

/** A ticket as the database shows it. */
export type TicketRow = Record<TicketColumn, string | number | null> & {
  readonly hauler_id: string;
  readonly id: string;
  readonly site_id: string;
  readonly revision: number;
  readonly contents_version: string | null;
  readonly inbound_number: string | null;
  readonly inbound_updated_at: string | null;
  readonly outbound_number: string | null;
  readonly outbound_updated_at: string | null;
  readonly materials: string;
  readonly custom_fields: string | null;
  readonly created_at: string;
  readonly updated_at: string;
};

export function revisionRow(revision: Revision): RowOf<typeof REVISION> {
  return {
    hauler_id: revision.haulerId,
    ticket_id: revision.ticketId,
    revision: String(revision.revision),
    received_at: revision.receivedAt,
    result: revision.result,
    body: revision.body,
  };
}

export function ticketRow(ticket: Ticket): RowOf<typeof TICKET> {
  const { flows, contents } = ticket;
  return {
    hauler_id: ticket.haulerId,
    id: ticket.id,
    site_id: ticket.siteId,
    revision: String(ticket.revision),
    contents_version: ticket.version,
    inbound_number: flows.inbound?.ticketNumber ?? null,
    inbound_updated_at: flows.inbound?.updatedAt ?? null,
    outbound_number: flows.outbound?.ticketNumber ?? null,
    outbound_updated_at: flows.outbound?.updatedAt ?? null,
    materials: contents.materials,
    custom_fields: contents.customFields,
    created_at: ticket.createdAt,
    updated_at: ticket.updatedAt,
  };
}

export function ticketOf(row: TicketRow): Ticket {
  return {
    id: row.id,
    haulerId: row.hauler_id,
    siteId: row.site_id,
    revision: row.revision,
    version: row.contents_version,
    flows: {
      inbound: flowOf(row.inbound_number, row.inbound_updated_at),
      outbound: flowOf(row.outbound_number, row.outbound_updated_at),
    },
    contents: { materials: row.materials, customFields: row.custom_fields },
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function flowOf(ticketNumber: string | null, updatedAt: string | null): Flow | undefined {
  return ticketNumber === null || updatedAt === null ? undefined : { ticketNumber, updatedAt };
}
