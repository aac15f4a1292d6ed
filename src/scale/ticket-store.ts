import type { Connection } from '../database/connection.js';
import { isLostStatement, isTransient, isUniqueViolation } from '../database/postgres-errors.js';
import { textArray } from '../database/text-array.js';
import type { References } from './business-rules.js';
import type { BookChanges } from './ticket-book.js';
import {
  FIND,
  FREE_NUMBERS,
  REVISION_COLUMNS,
  type RevisionColumn,
  TICKET_COLUMNS,
  type TicketColumn,
  WRITE,
  WRITE_NEW,
} from './ticket-sql.js';
import type { Direction, Flow, Push, Revision, Ticket } from './ticket.js';

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
      ...columnsOf(REVISION_COLUMNS, revisions.map(revisionRow)),
      ...columnsOf(TICKET_COLUMNS, created.map(ticketRow)),
      ...columnsOf(TICKET_COLUMNS, updated.map(ticketRow)),
    ]);
  // One statement is a transaction by itself, and saves two round trips.
  if (renamed.length === 0) return void (await write());
  // A number may go from one ticket of the batch to another, and the constraints look at every row as it comes.
  await connection.transaction(async () => {
    await connection.query(FREE_NUMBERS, columnsOf(['haulerId', 'id'], renamed));
    await write();
  });
}

/**
 * Writes those of `created` whose flows are not stored yet, in the one statement that also finds whether the references
 * are right. Their ids; none where any reference is wrong.
 */
export async function writeNew(
  connection: Connection,
  { created, revisions }: BookChanges,
  references: readonly References[],
): Promise<ReadonlySet<string>> {
  const bodies = new Map(revisions.map(({ ticketId, body }) => [ticketId, body]));
  const materials = references.flatMap(({ materialIds, ...of }) =>
    materialIds.map((materialId) => ({ ...of, materialId })),
  );
  const [answer] = await connection.query<{ ids: string[] | null }[]>(WRITE_NEW, [
    ...columnsOf(['haulerId', 'siteId', 'materialId'], materials),
    ...columnsOf(TICKET_COLUMNS, created.map(ticketRow)),
    textArray(created.map(({ id }) => bodies.get(id) ?? null)),
  ]);
  return new Set(answer?.ids ?? created.map(({ id }) => id));
}

/** True where nothing was written, and finding, deciding and writing again may succeed. */
export function mayTryAgain(error: unknown): boolean {
  return FENCES.some((name) => isUniqueViolation(error, name)) || isTransient(error) || isLostStatement(error);
}

const FENCES = ['tickets_inbound_key', 'tickets_outbound_key', 'ticket_revisions_pkey'];

type TicketRow = Record<TicketColumn, string | number | null> & {
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

function asked(pushes: readonly Push[], direction: Direction): Buffer[] {
  const flows = pushes.flatMap(({ haulerId, siteId, flows }) => {
    const number = flows[direction]?.ticketNumber;
    return number === undefined ? [] : [{ haulerId, siteId, number }];
  });
  return columnsOf(['haulerId', 'siteId', 'number'], flows);
}

function columnsOf<Column extends string>(
  columns: readonly Column[],
  rows: readonly Readonly<Record<Column, string | null>>[],
): Buffer[] {
  return columns.map((column) => textArray(rows.map((row) => row[column])));
}

function revisionRow(revision: Revision): Record<RevisionColumn, string> {
  return {
    hauler_id: revision.haulerId,
    ticket_id: revision.ticketId,
    revision: String(revision.revision),
    received_at: revision.receivedAt,
    result: revision.result,
    body: revision.body,
  };
}

function ticketRow(ticket: Ticket): Record<TicketColumn, string | null> {
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

function ticketOf(row: TicketRow): Ticket {
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
