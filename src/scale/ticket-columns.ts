import type { Columns } from '../database/sql-rows.js';
import type { Direction, Flow, Push, Revision, Ticket } from './ticket.js';

/** What a batch writes of a ticket that one push has made. Its revision is 1, and it was last updated when it was created: the statement adds both. */
export const NEW_TICKET = {
  hauler_id: ['uuid', ({ haulerId }) => haulerId],
  id: ['uuid', ({ id }) => id],
  site_id: ['uuid', ({ siteId }) => siteId],
  contents_version: ['timestamptz', ({ version }) => version],
  inbound_number: ['text', ({ flows }) => flows.inbound?.ticketNumber ?? null],
  inbound_updated_at: ['timestamptz', ({ flows }) => flows.inbound?.updatedAt ?? null],
  outbound_number: ['text', ({ flows }) => flows.outbound?.ticketNumber ?? null],
  outbound_updated_at: ['timestamptz', ({ flows }) => flows.outbound?.updatedAt ?? null],
  materials: ['text', ({ contents }) => contents.materials],
  custom_fields: ['text', ({ contents }) => contents.customFields],
  created_at: ['timestamptz', ({ createdAt }) => createdAt],
} as const satisfies Columns<Ticket>;

/** What a batch writes of any ticket. */
export const TICKET = {
  ...NEW_TICKET,
  revision: ['integer', ({ revision }) => String(revision)],
  updated_at: ['timestamptz', ({ updatedAt }) => updatedAt],
} as const satisfies Columns<Ticket>;

export const REVISION = {
  hauler_id: ['uuid', ({ haulerId }) => haulerId],
  ticket_id: ['uuid', ({ ticketId }) => ticketId],
  revision: ['integer', ({ revision }) => String(revision)],
  received_at: ['timestamptz', ({ receivedAt }) => receivedAt],
  result: ['text', ({ result }) => result],
  body: ['text', ({ body }) => body],
} as const satisfies Columns<Revision>;

/** Bodies of pushes go beside the tickets that they made. */
export const BODY = { body: ['text', (revision) => revision?.body ?? null] } as const satisfies Columns<
  Revision | undefined
>;

export const TICKET_KEY = { hauler_id: TICKET.hauler_id, id: TICKET.id } as const satisfies Columns<Ticket>;

/** What a push's flow of that direction is found by. */
export const flowKey = (direction: Direction) =>
  ({
    hauler_id: ['uuid', ({ haulerId }) => haulerId],
    site_id: ['uuid', ({ siteId }) => siteId],
    number: ['text', ({ flows }) => flows[direction]?.ticketNumber ?? null],
  }) as const satisfies Columns<Push>;

export type TicketColumn = keyof typeof TICKET;

/** A ticket as the database shows it. */
export interface TicketRow {
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
