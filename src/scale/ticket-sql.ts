import { instantSql } from '../database/instant-sql.js';
import { type Columns, rowsSql } from '../database/sql-rows.js';
import {
  allRight,
  allUnmoved,
  CATALOG_LAYOUT,
  layouts,
  MATERIAL_AT_SITE,
} from '../site-sync/catalog/catalog-checks.js';

/** What a batch writes of a ticket, and the type of each column; the order is that of the parameters. */
export const TICKET = {
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

export const REVISION = {
  hauler_id: 'uuid',
  ticket_id: 'uuid',
  revision: 'integer',
  received_at: 'timestamptz',
  result: 'text',
  body: 'text',
} as const;

/** A ticket by itself. */
export const TICKET_KEY = { hauler_id: 'uuid', id: 'uuid' } as const;

/** A flow, by either of its columns. */
export const FLOW_KEY = { hauler_id: 'uuid', site_id: 'uuid', number: 'text' } as const;

/** Bodies go beside the tickets that they are of. */
export const BODY = { body: 'text' } as const;

export type TicketColumn = keyof typeof TICKET;

const TICKET_COLUMNS = Object.keys(TICKET) as TicketColumn[];

const numberOf = (columns: Columns) => Object.keys(columns).length;

const insert = (table: string, columns: Columns, from: string) =>
  `INSERT INTO ${table} (${Object.keys(columns).join(', ')}) SELECT ${Object.keys(columns).join(', ')} FROM ${from}`;

const changing = TICKET_COLUMNS.filter((column) => !['hauler_id', 'id', 'site_id', 'created_at'].includes(column));

const update = (first: number) => `
  UPDATE tickets t SET ${changing.map((column) => `${column} = pushed.${column}`).join(', ')}
    FROM ${rowsSql(TICKET, first)} AS pushed
   WHERE (t.hauler_id, t.id) = (pushed.hauler_id, pushed.id)`;

/** Parameters: hauler ids and ids of tickets that give ticket numbers up. */
export const FREE_NUMBERS = `
  UPDATE tickets t SET inbound_number = NULL, outbound_number = NULL
    FROM ${rowsSql(TICKET_KEY, 1)} AS renamed
   WHERE (t.hauler_id, t.id) = (renamed.hauler_id, renamed.id)`;

/** Parameters: the columns of the revisions, of the new tickets, of the changed tickets. */
export const WRITE = `
  WITH created AS (${insert('tickets', TICKET, `${rowsSql(TICKET, numberOf(REVISION) + 1)} AS pushed`)}),
       updated AS (${update(numberOf(REVISION) + numberOf(TICKET) + 1)})
  ${insert('ticket_revisions', REVISION, `${rowsSql(REVISION, 1)} AS pushed`)}`;

const shown = (column: TicketColumn) =>
  TICKET[column] === 'timestamptz' ? `${instantSql(`t.${column}`)} AS ${column}` : `t.${column}`;

const joinBy = (column: TicketColumn) =>
  `JOIN tickets t ON (t.hauler_id, t.${column}, t.site_id) = (asked.hauler_id, asked.number, asked.site_id)`;

const FOUND = `SELECT ${TICKET_COLUMNS.map(shown).join(', ')} FROM`;

/** Parameters: hauler ids, site ids and ticket numbers of the inbound flows, then of the outbound ones. */
export const FIND = `
  ${FOUND} ${rowsSql(FLOW_KEY, 1)} AS asked ${joinBy('inbound_number')}
  UNION ALL
  ${FOUND} ${rowsSql(FLOW_KEY, 4)} AS asked ${joinBy('outbound_number')}`;

/**
 * Writes those of the given tickets that are new, with their first revisions; none where `right` is false. A ticket is new
 * if the unique constraints of its flows say so: looking for the flows beforehand cost three times as much. One row, `ids`
 * being the tickets that were written, or null where all were.
 */
const writeNew = (first: number, right: string, more = '') => `
  WITH asked AS MATERIALIZED ${rowsSql({ ...TICKET, ...BODY }, first)},
       created AS (
         ${insert('tickets', TICKET, 'asked')}
          WHERE (SELECT ${right})
             ON CONFLICT DO NOTHING RETURNING hauler_id, id, revision, created_at),
       kept AS (
         INSERT INTO ticket_revisions (hauler_id, ticket_id, revision, received_at, result, body)
         SELECT created.hauler_id, id, created.revision, created.created_at, 'created', body
           FROM created JOIN asked USING (id))
  SELECT CASE WHEN (SELECT count(*) FROM created) < cardinality($${first}) THEN ARRAY(SELECT id FROM created) END AS ids${more}`;

const ASKED = rowsSql(MATERIAL_AT_SITE, 1);

/** Where all materials are right. Parameters: `MATERIAL_AT_SITE`, `TICKET`, `BODY`. `layouts`: what they were right under. */
export const WRITE_NEW = writeNew(numberOf(MATERIAL_AT_SITE) + 1, allRight(ASKED), `, ${layouts(ASKED)} AS layouts`);

/** Where no catalog has changed its layout. Parameters: `CATALOG_LAYOUT`, `TICKET`, `BODY`. */
export const WRITE_NEW_OF_KNOWN = writeNew(numberOf(CATALOG_LAYOUT) + 1, allUnmoved(rowsSql(CATALOG_LAYOUT, 1)));
