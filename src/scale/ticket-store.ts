import type { SharedConnection, Statement } from '../database/connection.js';
import { isLostStatement, isTransient, isUniqueViolation } from '../database/postgres-errors.js';
import { rowArrays } from '../database/sql-rows.js';
import type { BookChanges } from './ticket-book.js';
import { flowKey, REVISION, TICKET, TICKET_KEY, ticketOf, type TicketRow } from './ticket-columns.js';
import { FIND, FREE_NUMBERS, WRITE } from './ticket-sql.js';
import type { Push, Ticket } from './ticket.js';

/** Every ticket that a flow of these pushes matches (decision 20), as of one moment; one that two match may come twice. */
export async function findTickets(connection: SharedConnection, pushes: readonly Push[]): Promise<Ticket[]> {
  const parameters = [...rowArrays(flowKey('inbound'), pushes), ...rowArrays(flowKey('outbound'), pushes)];
  return (await connection.query<TicketRow[]>(FIND, parameters)).map(ticketOf);
}

/**
 * Writes what a batch came to, all of it or nothing. Nothing was locked before: whoever has decided on tickets that have
 * changed meanwhile breaks a unique constraint, for flows are unique, and every change of a ticket brings a revision with
 * the next number (decision 26). See `mayTryAgain`.
 */
export async function writeTickets(connection: SharedConnection, changes: BookChanges): Promise<void> {
  const { created, updated, renamed, revisions } = changes;
  if (revisions.length === 0) return;
  const write: Statement = [
    WRITE,
    [...rowArrays(REVISION, revisions), ...rowArrays(TICKET, created), ...rowArrays(TICKET, updated)],
  ];
  // One statement is a transaction by itself.
  if (renamed.length === 0) await connection.query(...write);
  // A number may go from one ticket of the batch to another, and the constraints look at every row as it comes.
  else await connection.inOneGo([FREE_NUMBERS, rowArrays(TICKET_KEY, renamed)], write);
}

/** True where nothing was written, and finding, deciding and writing again may succeed. */
export function mayTryAgain(error: unknown): boolean {
  return FENCES.some((name) => isUniqueViolation(error, name)) || isTransient(error) || isLostStatement(error);
}

const FENCES = ['tickets_inbound_key', 'tickets_outbound_key', 'ticket_revisions_pkey'];
