import type { TicketQuery } from '../contracts/admin/ticket.dto.js';
import { epochMillis, type Instant } from '../contracts/common/instant.js';
import { leastUuidv7Of } from '../database/uuid.js';

export interface TicketFilter {
  /** Selects the ids of the tickets that match. */
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** Few tickets match: they are looked up by their number, then sorted. Else they are read in the order of their ids. */
  readonly few: boolean;
}

/**
 * The tickets that a list asks for. An id tells when its ticket was first received, so that the order and the bounds of
 * time need no column of their own.
 */
export function filterOfTickets({ haulerId, siteId, ticketNumber, from, to }: TicketQuery): TicketFilter {
  const parameters: unknown[] = [];
  const parameter = (value: unknown) => `$${parameters.push(value)}`;
  const conditions: string[] = [];
  if (haulerId !== undefined) conditions.push(`hauler_id = ${parameter(haulerId)}`);
  // The index of ticket numbers leads with the hauler.
  else if (ticketNumber !== undefined) conditions.push('hauler_id = ANY (ARRAY(SELECT h.id FROM haulers h))');
  if (siteId !== undefined) conditions.push(`site_id = ${parameter(siteId)}`);
  if (ticketNumber !== undefined) {
    const number = parameter(ticketNumber);
    conditions.push(`(inbound_number = ${number} OR outbound_number = ${number})`);
  }
  if (from !== undefined) conditions.push(`id >= ${parameter(leastIdFrom(from))}`);
  if (to !== undefined) conditions.push(`id < ${parameter(leastIdFrom(to))}`);
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  return { sql: `SELECT id FROM tickets${where}`, parameters, few: ticketNumber !== undefined };
}

/** Tickets are received at whole milliseconds: the first one at or after the instant. */
function leastIdFrom(instant: Instant): string {
  return leastUuidv7Of(epochMillis(instant) + (instant.endsWith('000Z') ? 0 : 1));
}
