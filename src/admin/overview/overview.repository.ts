import type { Sql } from '../../core/database/sql.js';

/** Undefined: all. */
export type Haulers = readonly string[] | undefined;

/** The ids between which something was received: the first is included, the second is not. */
export type IdRange = readonly [first: string, end: string];

export interface ReceivedRow {
  /** From 0 on: between which two edges. */
  readonly place: number;
  readonly tickets: number;
  readonly accounts: number;
}

/** How many tickets and accounts were received between each two ids. The ids contain the time, and the indexes have all that is read. */
export function receivedBetween(database: Sql, haulers: Haulers, edges: readonly string[]): Promise<ReceivedRow[]> {
  return database.query<ReceivedRow>(
    `SELECT place - 1 AS place, sum(tickets)::float8 AS tickets, sum(accounts)::float8 AS accounts FROM (
       SELECT width_bucket(id, $1::uuid[]) AS place, count(*) AS tickets, 0 AS accounts FROM tickets
       WHERE id >= $2 AND id < $3 AND ($4::uuid[] IS NULL OR hauler_id = ANY ($4)) GROUP BY 1
       UNION ALL
       SELECT width_bucket(id, $1::uuid[]), 0, count(*) FROM accounts
       WHERE id >= $2 AND id < $3 AND ($4::uuid[] IS NULL OR hauler_id = ANY ($4)) GROUP BY 1) AS received
     GROUP BY place`,
    [edges, edges[0], edges.at(-1), haulers ?? null],
  );
}

export interface SiteTickets {
  readonly hauler_id: string;
  readonly site_id: string;
  /** From 1 on: of the range. */
  readonly place: number;
  readonly count: number;
}

/** How many tickets each site sent in each range. */
export function ticketsOfSites(database: Sql, haulers: Haulers, ranges: readonly IdRange[]): Promise<SiteTickets[]> {
  return database.query<SiteTickets>(
    `SELECT hauler_id, site_id, place::integer AS place, count(*)::float8 AS count
     FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS range (first, until, place), LATERAL (
       SELECT hauler_id, site_id FROM tickets
       WHERE id >= range.first AND id < range.until AND ($3::uuid[] IS NULL OR hauler_id = ANY ($3))) AS received
     GROUP BY hauler_id, site_id, place`,
    [ranges.map(([first]) => first), ranges.map(([, end]) => end), haulers ?? null],
  );
}

export interface ActiveSite {
  readonly hauler_id: string;
  readonly site_id: string;
  readonly name: string;
  /** Of its last ticket. */
  readonly last_id: string | null;
}

/** Those of the sites that their partner still lists. */
export function activeSites(
  database: Sql,
  sites: readonly Pick<ActiveSite, 'hauler_id' | 'site_id'>[],
): Promise<ActiveSite[]> {
  return database.query<ActiveSite>(
    `SELECT s.hauler_id, s.external_id AS site_id, s.name, (
       SELECT t.id FROM tickets AS t WHERE t.site_id = s.external_id AND t.hauler_id = s.hauler_id
       ORDER BY t.id DESC LIMIT 1) AS last_id
     FROM sites AS s JOIN unnest($1::uuid[], $2::uuid[]) AS asked (hauler_id, site_id)
       ON (s.hauler_id, s.external_id) = (asked.hauler_id, asked.site_id)
     WHERE s.active`,
    [sites.map(({ hauler_id }) => hauler_id), sites.map(({ site_id }) => site_id)],
  );
}
