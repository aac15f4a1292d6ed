import type { Sql } from '../core/database/sql.js';
import { minUuidv7Of } from '../core/database/uuid.js';

const DAY_MS = 86_400_000;
/** Of a connection: a partner that is asked often has some thousand in a day. */
const NEWEST = 100;

/** An operation of a connection whose last call of the day failed. */
export interface FailingCalls {
  readonly hauler_id: string;
  readonly connection_id: string;
  readonly interface: 'site' | 'vision';
  /** The operation. */
  readonly route: string;
  /** Of the last call; 0 without a response. */
  readonly status: number;
  readonly failure: string | null;
  /** Failed calls in a row, among the newest of the connection. */
  readonly count: number;
  /** The first and the last of them. Ids contain the time. */
  readonly first_id: string;
  readonly last_id: string;
}

/**
 * The operations that fail at partners, from the exchange log, without the calls that a scenario of the sandbox touched. A clip
 * request that the partner does not know (404) is an answer, not a fault of the connection.
 */
export function failingCalls(database: Sql): Promise<FailingCalls[]> {
  return database.query<FailingCalls>(
    `SELECT c.hauler_id, c.id AS connection_id, c.interface, failing.*
     FROM connections AS c CROSS JOIN LATERAL (
       SELECT route, count(*)::float8 AS count, min(id) AS first_id, max(id) AS last_id,
         (array_agg(status ORDER BY id DESC))[1] AS status, (array_agg(failure ORDER BY id DESC))[1] AS failure
       FROM (
         SELECT *, max(CASE WHEN is_answered THEN id END) OVER (PARTITION BY route) AS answered_id
         FROM (
           SELECT e.id::text, route, status, failure,
             failure IS NULL AND (status BETWEEN 200 AND 399 OR route = 'listVideos' AND status = 404) AS is_answered
           FROM exchanges AS e
           WHERE connection_id = c.id AND e.id >= $1 AND direction = 'outbound' AND route <> 'download'
             AND scenario IS NULL AND replay_of IS NULL
           ORDER BY e.id DESC LIMIT ${NEWEST}) AS newest) AS calls
       WHERE id > coalesce(answered_id, '') GROUP BY route) AS failing
     WHERE c.deleted_at IS NULL AND c.enabled`,
    [minUuidv7Of(Date.now() - DAY_MS)],
  );
}
