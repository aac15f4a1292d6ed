import type { TicketResult } from '../contracts/scale/scale.dto.js';
import type { Sql } from '../core/database/sql.js';
import type { Decision, UndecidedCall } from '../exchanges/exchange-decisions.service.js';

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
