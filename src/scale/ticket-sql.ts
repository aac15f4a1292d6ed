import { instantSql } from '../database/instant-sql.js';

/** What a batch writes of a ticket, and the type of each column; the order is that of the parameters. */
const TICKET = {
  hauler_id: 'uuid',
  id: 'uuid',
  site_id: 'uuid',
  revision: 'integer',
  contents_version: 'timestamptz',
  inbound_number: 'text',
  inbound_updated_at: 'timestamptz',
  outbound_number: 'text',
  outbound_updated_at: 'timestamptz',
  materials: 'text',
  custom_fields: 'text',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
} as const;

const REVISION = {
  hauler_id: 'uuid',
  ticket_id: 'uuid',
  revision: 'integer',
  received_at: 'timestamptz',
  result: 'text',
  body: 'text',
} as const;

type Columns = Readonly<Record<string, string>>;
export type TicketColumn = keyof typeof TICKET;
export type RevisionColumn = keyof typeof REVISION;

export const TICKET_COLUMNS = Object.keys(TICKET) as TicketColumn[];
export const REVISION_COLUMNS = Object.keys(REVISION) as RevisionColumn[];

/** Rows out of one array parameter for each column, from `$first` on. */
const rows = (columns: Columns, first: number) =>
  `unnest(${Object.values(columns)
    .map((type, i) => `$${first + i}::${type}[]`)
    .join(', ')}) AS pushed (${Object.keys(columns).join(', ')})`;

const insert = (table: string, columns: Columns, first: number) =>
  `INSERT INTO ${table} (${Object.keys(columns).join(', ')}) SELECT * FROM ${rows(columns, first)}`;

const changing = TICKET_COLUMNS.filter((column) => !['hauler_id', 'id', 'site_id', 'created_at'].includes(column));

const update = (first: number) => `
  UPDATE tickets t SET ${changing.map((column) => `${column} = pushed.${column}`).join(', ')}
    FROM ${rows(TICKET, first)}
   WHERE (t.hauler_id, t.id) = (pushed.hauler_id, pushed.id)`;

/** Parameters: the columns of the revisions, of the new tickets. */
export const WRITE_CREATED = `
  WITH created AS (${insert('tickets', TICKET, REVISION_COLUMNS.length + 1)})
  ${insert('ticket_revisions', REVISION, 1)}`;

/** Parameters: the columns of the revisions, of the new tickets, of the changed tickets. */
export const WRITE_ALL = `
  WITH created AS (${insert('tickets', TICKET, REVISION_COLUMNS.length + 1)}),
       updated AS (${update(REVISION_COLUMNS.length + TICKET_COLUMNS.length + 1)})
  ${insert('ticket_revisions', REVISION, 1)}`;

const shown = (column: TicketColumn) =>
  TICKET[column] === 'timestamptz' ? `${instantSql(`t.${column}`)} AS ${column}` : `t.${column}`;

const findBy = (number: 'inbound_number' | 'outbound_number', first: number) => `
  SELECT ${TICKET_COLUMNS.map(shown).join(', ')}
    FROM unnest($${first}::uuid[], $${first + 1}::uuid[], $${first + 2}::text[]) AS asked (hauler_id, site_id, number)
    JOIN tickets t ON (t.hauler_id, t.${number}, t.site_id) = (asked.hauler_id, asked.number, asked.site_id)`;

/** Parameters: hauler ids, site ids and ticket numbers of the inbound flows, then of the outbound ones. */
export const FIND = `${findBy('inbound_number', 1)} UNION ALL ${findBy('outbound_number', 4)}`;
