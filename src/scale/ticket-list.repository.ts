import type { TicketResult } from '../contracts/scale/scale.api.js';
import type { Sql } from '../core/database/sql.js';
import type { Decision, UndecidedCall } from '../exchanges/exchange-decisions.service.js';
import type { TicketQuery } from '../contracts/admin/tickets.routes.js';
import { type ListPage, listPage, type SqlList } from '../core/database/list-page.js';
import { listedHaulers } from '../core/database/hauler-limit.js';
import { minUuidv7From } from '../core/database/uuid.js';
import type { TicketPush } from '../exchanges/explanation.rules.js';
import type { Revision } from './ticket.js';
import type { TicketEntity } from './ticket.entity.js';

interface FoundRevision {
  readonly exchangeId: string;
  readonly ticketId: string;
  readonly result: TicketResult;
}

/** By the numbers of their flows. Parameters: exchange, hauler and number of each flow. */
const FIND_BY_FLOWS = `
  SELECT r.exchange_id AS "exchangeId", r.ticket_id AS "ticketId", r.result
    FROM unnest($1::uuid[], $2::uuid[], $3::text[]) AS flow (exchange_id, hauler_id, number)
    JOIN tickets t ON t.hauler_id = flow.hauler_id AND (t.inbound_number = flow.number OR t.outbound_number = flow.number)
    JOIN ticket_revisions r ON (r.hauler_id, r.ticket_id) = (t.hauler_id, t.id) AND r.exchange_id = flow.exchange_id`;

/** A push without flows always creates a ticket. Parameters: exchange and hauler, first id and the one behind the last. */
const FIND_CREATED = `
  SELECT r.exchange_id AS "exchangeId", r.ticket_id AS "ticketId", r.result
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[]) AS call (exchange_id, hauler_id, first_id, end_id)
    JOIN ticket_revisions r ON r.hauler_id = call.hauler_id AND r.ticket_id >= call.first_id AND r.ticket_id < call.end_id
     AND r.exchange_id = call.exchange_id`;

/** The revisions that these pushes have made. */
export async function findPushDecisions(database: Sql, calls: readonly UndecidedCall[]): Promise<Decision[]> {
  const flows = calls.flatMap(({ exchangeId, haulerId, references }) =>
    references
      .filter(({ kind }) => kind === 'ticketNumber')
      .map(({ value: number }) => ({ exchangeId, haulerId, number })),
  );
  const withFlows = new Set(flows.map(({ exchangeId }) => exchangeId));
  const without = calls.filter(({ exchangeId }) => !withFlows.has(exchangeId));
  const found = [
    ...(await findBy(database, FIND_BY_FLOWS, flows, ['exchangeId', 'haulerId', 'number'])),
    ...(await findBy(database, FIND_CREATED, without, ['exchangeId', 'haulerId', 'firstId', 'endId'])),
  ];
  return found.map(({ exchangeId, ticketId, result }) => {
    return { exchangeId, result, reference: { kind: 'ticketId', value: ticketId } };
  });
}

/** Each name is a column of the rows, and one parameter. */
async function findBy<Row>(
  database: Sql,
  sql: string,
  rows: readonly Row[],
  names: readonly (keyof Row)[],
): Promise<FoundRevision[]> {
  if (rows.length === 0) return [];
  return database.query<FoundRevision>(
    sql,
    names.map((name) => rows.map((row) => row[name])),
  );
}

/** From this number of matches on, a search reads the tickets newest first. */
const COMMON_MATCHES = 10_000;

/** A search by material reads the contents of so many tickets: no index has them, because every push would pay for it. */
const MATERIAL_TICKETS = 200_000;

/** The size of a row, read without the row. */
export interface RowSize<Id> {
  readonly id: Id;
  readonly bytes: number;
}

/** Returns one page of the tickets of an admin list, newest first, by their sizes. */
export async function findTicketPage(database: Sql, query: TicketQuery): Promise<ListPage<RowSize<string>>> {
  const { haulerId, ticketNumber, material, search } = query;
  const matches = search === undefined ? undefined : await findByNumberPart(database, search, haulerId);
  const { sql, parameters } = filterSql(query, matches);
  // Few tickets have a given number or material: those are found first and then sorted.
  const areFew = ticketNumber !== undefined || material !== undefined || matches !== undefined;
  const list: SqlList = {
    name: 'tickets',
    sql: areFew ? `WITH found AS MATERIALIZED (${sql}) SELECT id, list_hauler FROM found` : sql,
    parameters,
    hasHaulers: true,
    key: ['id'],
    order: 'DESC',
  };
  const { rows: found, pagination } = await listPage<{ id: string }>(database, list, query);
  const rows = await database.query<RowSize<string>>(
    `SELECT id, octet_length(materials) + coalesce(octet_length(custom_fields), 0) AS bytes
       FROM tickets WHERE id = ANY ($1::uuid[]) ORDER BY id DESC`,
    [found.map(({ id }) => id)],
  );
  return { rows, pagination };
}

/** Returns the sizes of the revisions `first` to `last` of a ticket. */
export function findRevisionSizes(
  database: Sql,
  { haulerId, ticketId }: Pick<Revision, 'haulerId' | 'ticketId'>,
  first: number,
  last: number,
): Promise<RowSize<number>[]> {
  return database.query<RowSize<number>>(
    `SELECT revision AS id, octet_length(body) AS bytes FROM ticket_revisions
      WHERE hauler_id = $1 AND ticket_id = $2 AND revision BETWEEN $3 AND $4 ORDER BY revision`,
    [haulerId, ticketId, first, last],
  );
}

interface WonRow {
  readonly exchange_id: string;
  readonly received_at: Date;
  readonly key_prefix: string | null;
  readonly body: string;
}

/** The pushes whose contents were in force when others came, by the exchange of the later one. */
export function findWonPushes(database: Sql, pushes: readonly TicketPush[]): Promise<WonRow[]> {
  return database.query<WonRow>(
    `SELECT late.exchange_id, won.received_at, won.body, k.prefix AS key_prefix
       FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS p (hauler_id, ticket_id, exchange_id)
       JOIN ticket_revisions AS late USING (hauler_id, ticket_id, exchange_id)
      CROSS JOIN LATERAL (
        SELECT received_at, body, api_key_id FROM ticket_revisions
         WHERE hauler_id = late.hauler_id AND ticket_id = late.ticket_id AND revision < late.revision
           AND result IN ('created', 'updated')
         ORDER BY revision DESC LIMIT 1) AS won
       LEFT JOIN api_keys AS k ON k.id = won.api_key_id`,
    [
      pushes.map(({ haulerId }) => haulerId),
      pushes.map(({ ticketId }) => ticketId),
      pushes.map(({ exchangeId }) => exchangeId),
    ],
  );
}

/**
 * A SELECT of the ids of the tickets of an admin list. An id contains the time of receipt, so that no other index is needed
 * for it.
 */
function filterSql(
  { haulerId, siteId, ticketNumber, search, material, from, to }: TicketQuery,
  matches?: readonly string[],
): Pick<SqlList, 'parameters'> & { readonly sql: string } {
  const parameters: unknown[] = [];
  const parameter = (value: unknown) => `$${parameters.push(value)}`;
  const conditions: string[] = [];
  if (haulerId !== undefined) conditions.push(`hauler_id = ${parameter(haulerId)}`);
  // The index of ticket numbers begins with the hauler.
  else if (listedHaulers() !== undefined) conditions.push(`hauler_id = ANY (${parameter(listedHaulers())}::uuid[])`);
  else if (ticketNumber !== undefined) conditions.push('hauler_id = ANY (ARRAY(SELECT h.id FROM haulers h))');
  if (siteId !== undefined) conditions.push(`site_id = ${parameter(siteId)}`);
  if (ticketNumber !== undefined) {
    const number = parameter(ticketNumber);
    conditions.push(`(inbound_number = ${number} OR outbound_number = ${number})`);
  }
  if (search !== undefined) {
    conditions.push(
      matches === undefined ? anyContains(`${parameter(search)}::text`) : `id = ANY (${parameter(matches)}::uuid[])`,
    );
  }
  if (from !== undefined) conditions.push(`id >= ${parameter(minUuidv7From(from))}`);
  if (to !== undefined) conditions.push(`id < ${parameter(minUuidv7From(to))}`);
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  if (material === undefined)
    return {
      sql: `SELECT id, hauler_id AS list_hauler FROM tickets${where}`,
      parameters,
    };
  const newest = `SELECT id, hauler_id AS list_hauler, materials FROM tickets${where} ORDER BY id DESC LIMIT ${MATERIAL_TICKETS}`;
  const term = JSON.stringify(material).slice(1, -1);
  const name = `"name"\\s*:\\s*"([^"\\\\]|\\\\.)*${term.replace(/[^\p{L}\p{N}\s]/gu, '\\$&')}`;
  // The pattern decides. The cheaper comparison before it excludes most tickets.
  const found = `strpos(lower(materials), lower(${parameter(term)}::text)) > 0 AND materials ~* ${parameter(name)}::text`;
  return {
    sql: `SELECT id, list_hauler FROM (${newest}) AS newest WHERE ${found}`,
    parameters,
  };
}

const FLOW_NUMBERS = ['inbound_number', 'outbound_number'] as const;
const anyContains = (term: string) => `(${FLOW_NUMBERS.map((number) => contains(number, term)).join(' OR ')})`;
const contains = (number: string, term: string) => `strpos(lower(${number}), lower(${term})) > 0`;

/**
 * Returns the ids of the tickets whose numbers contain a term; undefined if so many match that reading tickets newest first
 * finds a page of them soon. Reads the numbers from the indexes of the flows alone: an index of their n-grams would be
 * faster, but every push would pay for it.
 */
async function findByNumberPart(
  database: Sql,
  term: string,
  haulerId: string | undefined,
): Promise<string[] | undefined> {
  const ofHauler = haulerId === undefined ? '' : 'hauler_id = $2 AND ';
  const arms = FLOW_NUMBERS.map(
    (number) => `SELECT t.id FROM (SELECT hauler_id, ${number}, site_id FROM tickets
        WHERE ${ofHauler}${contains(number, '$1::text')} LIMIT ${COMMON_MATCHES}) AS found
      JOIN tickets t USING (hauler_id, ${number}, site_id)`,
  );
  const rows = await database.query<{ id: string }>(arms.join(' UNION ALL '), [
    term,
    ...(haulerId === undefined ? [] : [haulerId]),
  ]);
  return rows.length >= COMMON_MATCHES ? undefined : rows.map(({ id }) => id);
}

/** The columns of a ticket that say when and which truck was weighed. */
export type WeighedTicketRow = Pick<
  TicketEntity,
  'id' | 'haulerId' | 'inboundNumber' | 'inboundUpdatedAt' | 'outboundNumber' | 'outboundUpdatedAt' | 'customFields'
>;

const MAX_WEIGHED = 200;

/** Tickets with a flow between two times, and with a text in the JSON of their custom fields. */
export function findWeighedTickets(
  database: Sql,
  haulerId: string,
  [from, to]: readonly [Date, Date],
  text: string,
): Promise<WeighedTicketRow[]> {
  return database.query<WeighedTicketRow>(
    `SELECT id, hauler_id AS "haulerId", inbound_number AS "inboundNumber", inbound_updated_at AS "inboundUpdatedAt",
       outbound_number AS "outboundNumber", outbound_updated_at AS "outboundUpdatedAt", custom_fields AS "customFields"
     FROM tickets
     WHERE hauler_id = $1 AND (inbound_updated_at BETWEEN $2 AND $3 OR outbound_updated_at BETWEEN $2 AND $3)
       AND strpos(custom_fields, $4) > 0
     LIMIT ${MAX_WEIGHED}`,
    [haulerId, from, to, JSON.stringify(text).slice(1, -1)],
  );
}
