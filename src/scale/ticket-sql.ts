import { instantSql } from '../database/instant-sql.js';
import { type Columns, rowsSql } from '../database/sql-rows.js';
import {
  allRight,
  allUnmoved,
  CATALOG_LAYOUT,
  layoutOf,
  MATERIAL_AT_SITE,
} from '../site-sync/catalog/catalog-checks.js';
import { BODY, flowKey, NEW_TICKET, REVISION, TICKET, TICKET_KEY, type TicketColumn } from './ticket-columns.js';

const TICKET_COLUMNS = Object.keys(TICKET) as TicketColumn[];

const numberOf = (columns: Columns<never>) => Object.keys(columns).length;

const insert = (table: string, columns: Columns<never>, from: string) =>
  `INSERT INTO ${table} (${Object.keys(columns).join(', ')}) SELECT ${Object.keys(columns).join(', ')} FROM ${from}`;

const changing = TICKET_COLUMNS.filter((column) => !['hauler_id', 'id', 'site_id', 'created_at'].includes(column));

const update = (first: number) => `
  UPDATE tickets t SET ${changing.map((column) => `${column} = pushed.${column}`).join(', ')}
    FROM ${rowsSql(TICKET, first)} AS pushed
   WHERE (t.hauler_id, t.id) = (pushed.hauler_id, pushed.id)`;

/** Parameters: `TICKET_KEY` of tickets that give ticket numbers up. */
export const FREE_NUMBERS = `
  UPDATE tickets t SET inbound_number = NULL, outbound_number = NULL
    FROM ${rowsSql(TICKET_KEY, 1)} AS renamed
   WHERE (t.hauler_id, t.id) = (renamed.hauler_id, renamed.id)`;

/** Parameters: `REVISION`, `TICKET` of the new tickets, and of the changed ones. */
export const WRITE = `
  WITH created AS (${insert('tickets', TICKET, `${rowsSql(TICKET, numberOf(REVISION) + 1)} AS pushed`)}),
       updated AS (${update(numberOf(REVISION) + numberOf(TICKET) + 1)})
  ${insert('ticket_revisions', REVISION, `${rowsSql(REVISION, 1)} AS pushed`)}`;

const shown = (column: TicketColumn) =>
  TICKET[column][0] === 'timestamptz' ? `${instantSql(`t.${column}`)} AS ${column}` : `t.${column}`;

const joinBy = (column: TicketColumn) =>
  `JOIN tickets t ON (t.hauler_id, t.${column}, t.site_id) = (asked.hauler_id, asked.number, asked.site_id)`;

const FOUND = `SELECT ${TICKET_COLUMNS.map(shown).join(', ')} FROM`;

/** Parameters: `flowKey` of the inbound flows, then of the outbound ones. */
export const FIND = `
  ${FOUND} ${rowsSql(flowKey('inbound'), 1)} AS asked ${joinBy('inbound_number')}
  UNION ALL
  ${FOUND} ${rowsSql(flowKey('outbound'), 4)} AS asked ${joinBy('outbound_number')}`;

/**
 * Writes those of the given tickets that are new, with their first revisions; none where `right` is false. A ticket is new
 * if the unique constraints of its flows say so: looking for the flows beforehand cost three times as much. A row
 * for each that was written: its `id`.
 */
const writeNew = (first: number, right: string, more = '') => `
  WITH asked AS MATERIALIZED (
         SELECT *, 1 AS revision, created_at AS updated_at FROM ${rowsSql({ ...NEW_TICKET, ...BODY }, first)} AS given),
       created AS (
         ${insert('tickets', TICKET, 'asked')}
          WHERE (SELECT ${right})
             ON CONFLICT DO NOTHING RETURNING id)
  INSERT INTO ticket_revisions (hauler_id, ticket_id, revision, received_at, result, body)
  SELECT hauler_id, id, revision, created_at, 'created', body FROM asked JOIN created USING (id)
  RETURNING ticket_id AS id${more}`;

/** Where all materials are right. Parameters: `MATERIAL_AT_SITE`, `NEW_TICKET`, `BODY`. Rows tell the layout they were right under. */
export const WRITE_NEW = writeNew(
  numberOf(MATERIAL_AT_SITE) + 1,
  allRight(rowsSql(MATERIAL_AT_SITE, 1)),
  `, hauler_id AS "haulerId", ${layoutOf('ticket_revisions.hauler_id')} AS number`,
);

/** Where no catalog has changed its layout. Parameters: `CATALOG_LAYOUT`, `NEW_TICKET`, `BODY`. */
export const WRITE_NEW_OF_KNOWN = writeNew(numberOf(CATALOG_LAYOUT) + 1, allUnmoved(rowsSql(CATALOG_LAYOUT, 1)));
