import { instantSql } from '../database/instant-sql.js';
import { allRight } from '../site-sync/catalog/catalog.service.js';

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

/** What is asked for is asked for at a site. */
const AT_SITE = { hauler_id: 'uuid', site_id: 'uuid' } as const;

type Columns = Readonly<Record<string, string>>;
export type TicketColumn = keyof typeof TICKET;
export type RevisionColumn = keyof typeof REVISION;

export const TICKET_COLUMNS = Object.keys(TICKET) as TicketColumn[];
export const REVISION_COLUMNS = Object.keys(REVISION) as RevisionColumn[];

/** Rows out of one `text[]` parameter for each column, from `$first` on. */
const rows = (columns: Columns, first: number) => {
  const names = Object.keys(columns);
  const casts = names.map((name) => (columns[name] === 'text' ? name : `${name}::${columns[name]}`));
  return `(SELECT ${casts.join(', ')}
     FROM unnest(${names.map((_, i) => `$${first + i}::text[]`).join(', ')}) AS given (${names.join(', ')}))`;
};

const insert = (table: string, columns: Columns, from: string) =>
  `INSERT INTO ${table} (${Object.keys(columns).join(', ')}) SELECT ${Object.keys(columns).join(', ')} FROM ${from}`;

const changing = TICKET_COLUMNS.filter((column) => !['hauler_id', 'id', 'site_id', 'created_at'].includes(column));

const update = (first: number) => `
  UPDATE tickets t SET ${changing.map((column) => `${column} = pushed.${column}`).join(', ')}
    FROM ${rows(TICKET, first)} AS pushed
   WHERE (t.hauler_id, t.id) = (pushed.hauler_id, pushed.id)`;

/** Parameters: hauler ids and ids of tickets that give ticket numbers up. */
export const FREE_NUMBERS = `
  UPDATE tickets t SET inbound_number = NULL, outbound_number = NULL
    FROM ${rows({ hauler_id: 'uuid', id: 'uuid' }, 1)} AS renamed
   WHERE (t.hauler_id, t.id) = (renamed.hauler_id, renamed.id)`;

/** Parameters: the columns of the revisions, of the new tickets, of the changed tickets. */
export const WRITE = `
  WITH created AS (${insert('tickets', TICKET, `${rows(TICKET, REVISION_COLUMNS.length + 1)} AS pushed`)}),
       updated AS (${update(REVISION_COLUMNS.length + TICKET_COLUMNS.length + 1)})
  ${insert('ticket_revisions', REVISION, `${rows(REVISION, 1)} AS pushed`)}`;

const shown = (column: TicketColumn) =>
  TICKET[column] === 'timestamptz' ? `${instantSql(`t.${column}`)} AS ${column}` : `t.${column}`;

const JOIN_INBOUND =
  'JOIN tickets t ON (t.hauler_id, t.inbound_number, t.site_id) = (asked.hauler_id, asked.inbound_number, asked.site_id)';
const JOIN_OUTBOUND = JOIN_INBOUND.replaceAll('inbound', 'outbound');

const FOUND = `SELECT ${TICKET_COLUMNS.map(shown).join(', ')} FROM`;

/** Parameters: hauler ids, site ids and ticket numbers of the inbound flows, then of the outbound ones. */
export const FIND = `
  ${FOUND} ${rows({ ...AT_SITE, inbound_number: 'text' }, 1)} AS asked ${JOIN_INBOUND}
  UNION ALL
  ${FOUND} ${rows({ ...AT_SITE, outbound_number: 'text' }, 4)} AS asked ${JOIN_OUTBOUND}`;

/**
 * Writes those of the given tickets that are new, with their first revisions; none where any material is not one of its
 * site. A ticket is new if the unique constraints of its flows say so: looking for the flows beforehand cost three times
 * as much. One row, `ids` being the tickets that were written, or null where all were.
 * Parameters: the hauler, site and id of each material, the columns of the tickets, the bodies.
 */
export const WRITE_NEW = `
  WITH asked AS MATERIALIZED ${rows({ ...TICKET, body: 'text' }, 4)},
       created AS (
         ${insert('tickets', TICKET, 'asked')}
          WHERE (SELECT ${allRight(rows({ ...AT_SITE, material_id: 'uuid' }, 1))})
             ON CONFLICT DO NOTHING RETURNING hauler_id, id, revision, created_at),
       kept AS (
         INSERT INTO ticket_revisions (hauler_id, ticket_id, revision, received_at, result, body)
         SELECT created.hauler_id, id, created.revision, created.created_at, 'created', body
           FROM created JOIN asked USING (id))
  SELECT CASE WHEN (SELECT count(*) FROM created) < cardinality($4) THEN ARRAY(SELECT id FROM created) END AS ids`;
