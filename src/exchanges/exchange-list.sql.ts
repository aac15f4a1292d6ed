import type { InterfaceName } from '../contracts/common/interfaces.values.js';
import type { Reference } from '../contracts/common/references.js';
import { minUuidv7Of } from '../database/uuid.js';
import type { Direction } from './exchange-record.js';
import { IS_FAILED, REASON, REASON_COLUMN } from './exchange-reason.sql.js';
import { soughtElement } from './exchange-references.rules.js';

export interface ExchangeFilter {
  readonly direction?: Direction | undefined;
  readonly interface?: InterfaceName | undefined;
  readonly haulerId?: string | undefined;
  readonly connectionId?: string | undefined;
  readonly apiKeyId?: string | undefined;
  /** First and last; 0 without a response. */
  readonly status?: readonly [number, number] | undefined;
  readonly errorCode?: string | undefined;
  readonly requestId?: string | undefined;
  readonly reason?: string | undefined;
  /** Whether it has a reason. */
  readonly failed?: boolean | undefined;
  readonly reference?: Reference | undefined;
  /** Milliseconds since the epoch; the first is included, the second is not. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Exchanges older than this one. */
  readonly before?: string | undefined;
}

/** The columns of a list. */
export const LISTED = `id, hauler_id, connection_id, api_key_id, replay_of, request_bytes, response_bytes, duration_ms, status,
  direction, interface, route, method, path, key_prefix, request_id, failure, error_code, result, scenario, ignored_fields, refs,
  ${REASON_COLUMN}`;

/**
 * All statements have these parameters: $1 first id, $2 id behind the last, $3 limit, $4 hauler, $5 connection, $6 API key, $7 first status,
 * $8 last status, $9 error code, $10 request id, $11 direction, $12 interface, $13 reason, $14 whether it failed; null where the filter has none. A condition of a null is
 * true before the statement is planned. `coalesce` keeps the planner from choosing an index for a condition whose frequency it
 * guesses: each statement below names its index by its order, and reads it from the newest end until the page is full.
 */
const MATCHES = `id >= $1::uuid AND id < $2::uuid
  AND coalesce(hauler_id = $4::uuid, $4::uuid IS NULL)
  AND coalesce(connection_id = $5::uuid, $5::uuid IS NULL)
  AND coalesce(api_key_id = $6::uuid, $6::uuid IS NULL)
  AND coalesce(status BETWEEN $7::int AND $8::int, true)
  AND coalesce(error_code = $9::text, $9::text IS NULL)
  AND coalesce(request_id = $10::text, $10::text IS NULL)
  AND coalesce(direction = $11::text, true)
  AND coalesce(interface = $12::text, true)
  AND coalesce(CASE WHEN ${IS_FAILED} THEN ${REASON} END = $13::text, $13::text IS NULL)
  AND coalesce(${IS_FAILED} = $14::boolean, true)`;

const DIRECTIONS = `unnest(CASE WHEN $11::text IS NULL THEN '{inbound,outbound}' ELSE ARRAY[$11::text] END) AS d (direction)`;
const INTERFACES = `unnest(CASE WHEN $12::text IS NULL THEN '{scale,account,site,vision}' ELSE ARRAY[$12::text] END) AS i (interface)`;

const STATUSES = `generate_series($7::int, $8::int) AS s (status)`;

const BY_ID = `SELECT ${LISTED} FROM exchanges WHERE ${MATCHES} ORDER BY id DESC LIMIT $3`;

/** A hash index has no order: few exchanges have the same request id. */
const BY_REQUEST = `SELECT ${LISTED} FROM (
    SELECT ${LISTED} FROM exchanges WHERE request_id = $10::text AND ${MATCHES} OFFSET 0) AS e
  ORDER BY id DESC LIMIT $3`;

/*
 * `= ANY` instead of `=`: with an equality the order by that column would be dropped, and every index by id would have the order.
 * Only for its first column: before version 17, PostgreSQL read a whole range of the first column for a second `= ANY`.
 * One range of the index is read for each direction and interface, or for each status of a class.
 */

const BY_INTERFACE = `SELECT e.* FROM ${DIRECTIONS} CROSS JOIN ${INTERFACES} CROSS JOIN LATERAL (
    SELECT ${LISTED} FROM exchanges
     WHERE direction = ANY (ARRAY[d.direction]) AND interface = i.interface AND ${MATCHES}
     ORDER BY direction DESC, interface DESC, id DESC LIMIT $3) AS e
  ORDER BY id DESC LIMIT $3`;

const BY_HAULER = `SELECT e.* FROM ${DIRECTIONS} CROSS JOIN ${INTERFACES} CROSS JOIN LATERAL (
    SELECT ${LISTED} FROM exchanges
     WHERE hauler_id = ANY (ARRAY[$4::uuid]) AND direction = d.direction
       AND interface = i.interface AND ${MATCHES}
     ORDER BY hauler_id DESC, direction DESC, interface DESC, id DESC LIMIT $3) AS e
  ORDER BY id DESC LIMIT $3`;

const BY_STATUS = `SELECT e.* FROM ${STATUSES} CROSS JOIN LATERAL (
    SELECT ${LISTED} FROM exchanges WHERE status = ANY (ARRAY[s.status::smallint]) AND status <> 200 AND ${MATCHES}
     ORDER BY status DESC, id DESC LIMIT $3) AS e
  ORDER BY id DESC LIMIT $3`;

const BY_HAULER_AND_STATUS = `SELECT e.* FROM ${STATUSES} CROSS JOIN LATERAL (
    SELECT ${LISTED} FROM exchanges
     WHERE hauler_id = ANY (ARRAY[$4::uuid]) AND status = s.status::smallint AND status <> 200 AND ${MATCHES}
     ORDER BY hauler_id DESC, status DESC, id DESC LIMIT $3) AS e
  ORDER BY id DESC LIMIT $3`;

const BY_CODE = `SELECT ${LISTED} FROM exchanges WHERE error_code = ANY (ARRAY[$9::text]) AND ${MATCHES}
  ORDER BY error_code DESC, id DESC LIMIT $3`;

const BY_HAULER_AND_CODE = `SELECT ${LISTED} FROM exchanges
  WHERE hauler_id = ANY (ARRAY[$4::uuid]) AND error_code = $9::text AND ${MATCHES}
  ORDER BY hauler_id DESC, error_code DESC, id DESC LIMIT $3`;

const BY_REASON = `SELECT ${LISTED} FROM exchanges WHERE ${IS_FAILED} AND ${REASON} = ANY (ARRAY[$13::text]) AND ${MATCHES}
  ORDER BY ${REASON} DESC, id DESC LIMIT $3`;

const BY_FAILURE = `SELECT ${LISTED} FROM exchanges WHERE ${IS_FAILED} AND ${MATCHES} ORDER BY id DESC LIMIT $3`;

/** A key or connection of another hauler has no exchange of this hauler: nothing is read. */
const KEY_IS_OF_HAULER = `coalesce((SELECT o.hauler_id FROM api_keys o WHERE o.id = $6::uuid) = $4::uuid, true)`;
const CONNECTION_IS_OF_HAULER = `coalesce((SELECT o.hauler_id FROM connections o WHERE o.id = $5::uuid) = $4::uuid, true)`;

const BY_KEY = `SELECT ${LISTED} FROM exchanges
  WHERE api_key_id = ANY (ARRAY[$6::uuid]) AND ${KEY_IS_OF_HAULER} AND ${MATCHES}
  ORDER BY api_key_id DESC, id DESC LIMIT $3`;

const BY_CONNECTION = `SELECT ${LISTED} FROM exchanges
  WHERE connection_id = ANY (ARRAY[$5::uuid]) AND ${CONNECTION_IS_OF_HAULER} AND ${MATCHES}
  ORDER BY connection_id DESC, id DESC LIMIT $3`;

const OK = 200;
const MIN_ID = '00000000-0000-0000-0000-000000000000';
const MAX_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The statement that reads the index of the most selective filter. */
export function listSql({
  requestId,
  connectionId,
  apiKeyId,
  errorCode,
  status,
  haulerId,
  reason,
  failed,
  ...rest
}: ExchangeFilter): string {
  if (requestId !== undefined) return BY_REQUEST;
  // Few exchanges fail: the others of a connection or key are not read.
  if (reason !== undefined) return BY_REASON;
  if (failed === true) return BY_FAILURE;
  if (connectionId !== undefined) return BY_CONNECTION;
  // The failures of a key are found among those of its hauler.
  if (apiKeyId !== undefined && haulerId === undefined) return BY_KEY;
  if (errorCode !== undefined) return haulerId === undefined ? BY_CODE : BY_HAULER_AND_CODE;
  if (status !== undefined && status[0] !== OK) return haulerId === undefined ? BY_STATUS : BY_HAULER_AND_STATUS;
  if (apiKeyId !== undefined) return BY_KEY;
  if (haulerId !== undefined) return BY_HAULER;
  return (rest.direction ?? rest.interface) === undefined ? BY_ID : BY_INTERFACE;
}

/**
 * The newest exchanges of a filter that have one of the elements $15, at most $16, among the newest $3; `seen` is how many those are.
 * Enough for a frequent value. There is a row of nulls if none has an element.
 */
export const newestWithReferenceSql = (filter: ExchangeFilter): string =>
  `WITH newest AS MATERIALIZED (${listSql(filter)})
   SELECT seen.count AS seen, found.* FROM (SELECT count(*)::int AS count FROM newest) AS seen
     LEFT JOIN (SELECT * FROM newest WHERE refs && $15::text[] ORDER BY id DESC LIMIT $16) AS found ON true
    ORDER BY id DESC`;

/** The newest exchanges that have one of the elements $15. The bounds are those of one day: its statistics are its own. */
export const withReferenceSql = (columns: string): string =>
  `SELECT ${columns} FROM (SELECT * FROM exchanges WHERE refs && $15::text[] AND ${MATCHES} OFFSET 0) AS e
    ORDER BY id DESC LIMIT $3`;

/** $1 to $14. */
export function parametersOf(filter: ExchangeFilter, limit: number): unknown[] {
  const { haulerId, connectionId, apiKeyId, status = [], errorCode, requestId, direction, interface: name } = filter;
  const { reason, failed } = filter;
  const { first, end } = idsOf(filter);
  const values = [
    haulerId,
    connectionId,
    apiKeyId,
    status[0],
    status[1],
    errorCode,
    requestId,
    direction,
    name,
    reason,
    failed,
  ];
  return [first, end, limit, ...values.map((value) => value ?? null)];
}

export function idsOf({ from, to, before }: ExchangeFilter): { readonly first: string; readonly end: string } {
  const ends = [to === undefined ? MAX_ID : minUuidv7Of(to), before ?? MAX_ID].sort();
  return { first: from === undefined ? MIN_ID : minUuidv7Of(from), end: ends[0] ?? MAX_ID };
}

/** $15. */
export const elementsOf = ({ haulerId }: ExchangeFilter, references: readonly Reference[]): string[] =>
  references.map((reference) => soughtElement(reference, haulerId));
