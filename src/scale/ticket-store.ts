import type { Connection } from '../database/connection.js';
import { isLostStatement, isTransient, isUniqueViolation } from '../database/postgres-errors.js';
import { rowArrays } from '../database/sql-rows.js';
import type { BookChanges } from './ticket-book.js';
import { revisionRow, ticketOf, type TicketRow, ticketRow } from './ticket-rows.js';
import { FIND, FLOW_KEY, FREE_NUMBERS, REVISION, TICKET, TICKET_KEY, WRITE } from './ticket-sql.js';
import type { Direction, Push, Ticket } from './ticket.js';

/** Every ticket that a flow of these pushes matches (decision 20), as of one moment; one that two match may come twice. */
export async function findTickets(connection: Connection, pushes: readonly Push[]): Promise<Ticket[]> {
  const parameters = [...asked(pushes, 'inbound'), ...asked(pushes, 'outbound')];
  return (await connection.query<TicketRow[]>(FIND, parameters)).map(ticketOf);
}

/**
 * Writes what a batch came to, all of it or nothing. Nothing was locked before: whoever has decided on tickets that have
 * changed meanwhile breaks a unique constraint, for flows are unique, and every change of a ticket brings a revision with
 * the next number (decision 26). See `mayTryAgain`.
 */
export async function writeTickets(connection: Connection, changes: BookChanges): Promise<void> {
  const { created, updated, renamed, revisions } = changes;
  if (revisions.length === 0) return;
  const write = () =>
    connection.query(WRITE, [
      ...rowArrays(REVISION, revisions.map(revisionRow)),
      ...rowArrays(TICKET, created.map(ticketRow)),
      ...rowArrays(TICKET, updated.map(ticketRow)),
    ]);
  // One statement is a transaction by itself, and saves two round trips.
  if (renamed.length === 0) return void (await write());
  // A number may go from one ticket of the batch to another, and the constraints look at every row as it comes.
  await connection.transaction(async () => {
    const freed = renamed.map(({ haulerId, id }) => ({ hauler_id: haulerId, id }));
    await connection.query(FREE_NUMBERS, rowArrays(TICKET_KEY, freed));
    await write();
  });
}

/** True where nothing was written, and finding, deciding and writing again may succeed. */
export function mayTryAgain(error: unknown): boolean {
  return FENCES.some((name) => isUniqueViolation(error, name)) || isTransient(error) || isLostStatement(error);
}

const FENCES = ['tickets_inbound_key', 'tickets_outbound_key', 'ticket_revisions_pkey'];

function asked(pushes: readonly Push[], direction: Direction): Buffer[] {
  const flows = pushes.flatMap(({ haulerId, siteId, flows }) => {
    const number = flows[direction]?.ticketNumber;
    return number === undefined ? [] : [{ hauler_id: haulerId, site_id: siteId, number }];
  });
  return rowArrays(FLOW_KEY, flows);
}
