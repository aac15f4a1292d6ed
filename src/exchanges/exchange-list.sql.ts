import { type InterfaceName, INTERFACES } from '../contracts/common/interfaces.values.js';
import type { Reference } from '../contracts/common/references.js';
import { minUuidv7Of } from '../core/database/uuid.js';
import type { Direction } from './exchange-record.js';
import { soughtElement } from './references.rules.js';

/** Exchanges that were refused, failed or have no response. The indexes have this condition and the expression below. */
export const IS_FAILED = '(status >= 400 OR status = 0 OR failure IS NOT NULL)';

/** Why: the codes of what the service decided, the code of the answer, why there is no usable answer, or the status alone. */
export const REASON = `(CASE
  WHEN status >= 400 THEN coalesce(substring(result from '^\\d{3} (.+)$'), error_code, failure, 'http-' || status::text)
  ELSE coalesce(failure, 'no-response') END)`;

/** The column of a list; null of an exchange that succeeded. */
export const REASON_COLUMN = `CASE WHEN ${IS_FAILED} THEN ${REASON} END AS reason`;

export interface ExchangeFilter {
  readonly direction?: Direction | undefined;
  readonly interface?: InterfaceName | undefined;
  readonly haulerId?: string | undefined;
  /** Of one of these. */
  readonly haulers?: readonly string[] | undefined;
  readonly connectionId?: string | undefined;
  readonly apiKeyId?: string | undefined;
  /** First and last; 0 without a response. */
  readonly status?: readonly [number, number] | undefined;
  readonly errorCode?: string | undefined;
  readonly requestId?: string | undefined;
  readonly reason?: string | undefined;
  /** Whether it has a reason. */
  readonly failed?: boolean | undefined;
  /** Whether a scenario of the sandbox touched it. */
  readonly rehearsed?: boolean | undefined;
  readonly reference?: Reference | undefined;
  /** Milliseconds since the epoch; the first is included, the second is not. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Exchanges older than this one. */
  readonly before?: string | undefined;
}

export interface Statement {
  readonly sql: string;
  readonly parameters: unknown[];
}

/** The columns of a list. */
export const LISTED = `id, hauler_id, connection_id, api_key_id, replay_of, request_bytes, response_bytes, duration_ms, status,
  direction, interface, route, method, path, key_prefix, request_id, failure, error_code, result, scenario, ignored_fields, refs,
  ${REASON_COLUMN}`;

/** An expression that an index begins with, its type, and the values that are sought in it. */
interface Part {
  readonly expression: string;
  readonly type: string;
  readonly values: readonly (string | number)[];
}

/** An index of exchanges that ends with the id. */
interface Index {
  readonly parts: readonly Part[];
  /** Of a partial index. */
  readonly condition?: string;
}

const OK = 200;

/** The index of the most selective filter. */
function indexOf(filter: ExchangeFilter): Index {
  const { direction, interface: name, haulerId, connectionId, apiKeyId, status, errorCode, reason, failed } = filter;
  const text = (expression: string, ...values: string[]): Part => ({ expression, type: 'text', values });
  const uuid = (expression: string, value: string): Part => ({ expression, type: 'uuid', values: [value] });
  const hauler = haulerId === undefined ? [] : [uuid('hauler_id', haulerId)];
  // Few exchanges fail: the others of a connection or key are not read.
  if (reason !== undefined) return { parts: [text(REASON, reason)], condition: IS_FAILED };
  if (failed === true) return { parts: [], condition: IS_FAILED };
  if (connectionId !== undefined) return { parts: [uuid('connection_id', connectionId)] };
  const isFailure = errorCode !== undefined || (status !== undefined && status[0] !== OK);
  // The failures of a key are found among those of its hauler.
  if (apiKeyId !== undefined && !(isFailure && haulerId !== undefined))
    return { parts: [uuid('api_key_id', apiKeyId)] };
  if (errorCode !== undefined) return { parts: [...hauler, text('error_code', errorCode)] };
  if (status !== undefined && status[0] !== OK) {
    const values = Array.from({ length: status[1] - status[0] + 1 }, (_, i) => status[0] + i);
    return { parts: [...hauler, { expression: 'status', type: 'smallint', values }], condition: `status <> ${OK}` };
  }
  if ((haulerId ?? direction ?? name) === undefined) return { parts: [] };
  const directions = direction === undefined ? ['inbound', 'outbound'] : [direction];
  const interfaces = name === undefined ? INTERFACES : [name];
  return { parts: [...hauler, text('direction', ...directions), text('interface', ...interfaces)] };
}

/** Collects the parameters of a statement. */
class Parameters {
  readonly values: unknown[] = [];

  /** Its place in the statement. */
  readonly add = (value: unknown, type: string): string => `$${this.values.push(value)}::${type}`;
}

/**
 * The conditions of a filter. `coalesce` keeps the planner from choosing an index for a condition whose frequency it guesses: a
 * statement names its index by its order, and reads it from the newest end until the page is full.
 */
function conditionsOf(filter: ExchangeFilter, add: Parameters['add']): string {
  const { haulerId, haulers, connectionId, apiKeyId, status, errorCode, requestId, reason, failed, rehearsed } = filter;
  const { first, end } = idsOf(filter);
  const conditions = [`id >= ${add(first, 'uuid')}`, `id < ${add(end, 'uuid')}`];
  const hidden = (condition: string) => void conditions.push(`coalesce(${condition}, false)`);
  if (filter.direction !== undefined) hidden(`direction = ${add(filter.direction, 'text')}`);
  if (filter.interface !== undefined) hidden(`interface = ${add(filter.interface, 'text')}`);
  if (connectionId !== undefined) hidden(`connection_id = ${add(connectionId, 'uuid')}`);
  if (apiKeyId !== undefined) hidden(`api_key_id = ${add(apiKeyId, 'uuid')}`);
  if (status !== undefined) hidden(`status BETWEEN ${add(status[0], 'int')} AND ${add(status[1], 'int')}`);
  if (errorCode !== undefined) hidden(`error_code = ${add(errorCode, 'text')}`);
  if (requestId !== undefined) hidden(`request_id = ${add(requestId, 'text')}`);
  if (reason !== undefined) hidden(`CASE WHEN ${IS_FAILED} THEN ${REASON} END = ${add(reason, 'text')}`);
  if (failed !== undefined) hidden(`${IS_FAILED} = ${add(failed, 'boolean')}`);
  if (haulers !== undefined) hidden(`hauler_id = ANY (${add(haulers, 'uuid[]')})`);
  if (rehearsed !== undefined) hidden(`(scenario IS NOT NULL) = ${add(rehearsed, 'boolean')}`);
  if (haulerId !== undefined) {
    const hauler = add(haulerId, 'uuid');
    hidden(`hauler_id = ${hauler}`);
    // A key or connection of another hauler has no exchange of this hauler: nothing is read.
    const isOwn = (table: string, id: string) =>
      conditions.push(
        `coalesce((SELECT o.hauler_id FROM ${table} o WHERE o.id = ${add(id, 'uuid')}) = ${hauler}, true)`,
      );
    if (apiKeyId !== undefined) isOwn('api_keys', apiKeyId);
    if (connectionId !== undefined) isOwn('connections', connectionId);
  }
  return conditions.join(' AND ');
}

/** The newest exchanges of a filter, without its reference. */
export function listSql(filter: ExchangeFilter, limit: number): Statement {
  const { add, values: parameters } = new Parameters();
  if (filter.requestId !== undefined) {
    // A hash index has no order: few exchanges have the same request id.
    const found = `request_id = ${add(filter.requestId, 'text')} AND ${conditionsOf(filter, add)}`;
    const sql = `SELECT * FROM (SELECT ${LISTED} FROM exchanges WHERE ${found} OFFSET 0) AS e ORDER BY id DESC LIMIT ${limit}`;
    return { sql, parameters };
  }
  const { parts, condition = 'true' } = indexOf(filter);
  const sets = parts.map(({ type, values }, i) => `unnest(${add(values, `${type}[]`)}) AS p${i} (value)`);
  // `= ANY` instead of `=`: with an equality the order by that expression would be dropped, and every index by id would have the order.
  // Only for the first one: before version 17, PostgreSQL read a whole range of the first column for a second `= ANY`.
  const sought = parts.map(({ expression }, i) =>
    i === 0 ? `${expression} = ANY (ARRAY[p0.value])` : `${expression} = p${i}.value`,
  );
  const order = [...parts.map(({ expression }) => expression), 'id'].map((each) => `${each} DESC`).join(', ');
  const where = [condition, ...sought, conditionsOf(filter, add)].join(' AND ');
  const one = `SELECT ${LISTED} FROM exchanges WHERE ${where} ORDER BY ${order} LIMIT ${limit}`;
  if (parts.length === 0) return { sql: one, parameters };
  // One range of the index is read for each value of each part.
  const sql = `SELECT e.* FROM ${sets.join(' CROSS JOIN ')} CROSS JOIN LATERAL (${one}) AS e ORDER BY id DESC LIMIT ${limit}`;
  return { sql, parameters };
}

/**
 * Those of the newest `among` exchanges of a filter that have one of the elements, at most `limit`; `seen` is how many those are.
 * Enough for a frequent value. There is a row of nulls if none has an element.
 */
export function newestWithReferenceSql(
  filter: ExchangeFilter,
  elements: readonly string[],
  { among, limit }: { readonly among: number; readonly limit: number },
): Statement {
  const { sql, parameters } = listSql(filter, among);
  return {
    sql: `WITH newest AS MATERIALIZED (${sql})
      SELECT seen.count AS seen, found.* FROM (SELECT count(*)::int AS count FROM newest) AS seen
        LEFT JOIN (SELECT * FROM newest WHERE refs && $${parameters.length + 1}::text[] ORDER BY id DESC LIMIT ${limit}) AS found ON true
       ORDER BY id DESC`,
    parameters: [...parameters, elements],
  };
}

/** The newest exchanges that have one of the elements. The bounds are those of one day: its statistics are its own. */
export function withReferenceSql(
  filter: ExchangeFilter,
  elements: readonly string[],
  { columns, limit }: { readonly columns: string; readonly limit: number },
): Statement {
  const { add, values: parameters } = new Parameters();
  const where = `refs && ${add(elements, 'text[]')} AND ${conditionsOf(filter, add)}`;
  const sql = `SELECT ${columns} FROM (SELECT * FROM exchanges WHERE ${where} OFFSET 0) AS e ORDER BY id DESC LIMIT ${limit}`;
  return { sql, parameters };
}

const MIN_ID = '00000000-0000-0000-0000-000000000000';
const MAX_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

export function idsOf({ from, to, before }: ExchangeFilter): { readonly first: string; readonly end: string } {
  const ends = [to === undefined ? MAX_ID : minUuidv7Of(to), before ?? MAX_ID].sort();
  return { first: from === undefined ? MIN_ID : minUuidv7Of(from), end: ends[0] ?? MAX_ID };
}

export const elementsOf = ({ haulerId }: ExchangeFilter, references: readonly Reference[]): string[] =>
  references.map((reference) => soughtElement(reference, haulerId));
