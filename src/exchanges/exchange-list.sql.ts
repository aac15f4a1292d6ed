import type { Reference } from '../contracts/common/references.js';
import { INTERFACES, type InterfaceName } from '../contracts/common/api-contract.js';
import { minUuidv7Of } from '../database/uuid.js';
import { FIRST_HOUR, hashOf, hourOf, KEYS_OF_HOUR } from './exchange-keys.rules.js';
import type { Direction } from './exchange-record.js';

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
  readonly reference?: Reference | undefined;
  /** Milliseconds since the epoch; the first is included, the second is not. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Exchanges older than this one. */
  readonly before?: string | undefined;
}

/** The columns of a list. */
export const LISTED = `id, hauler_id, connection_id, api_key_id, replay_of, request_bytes, response_bytes, duration_ms, status,
  direction, interface, route, method, path, key_prefix, request_id, failure, error_code, result, scenario, ignored_fields, refs`;

const DIRECTIONS: readonly Direction[] = ['inbound', 'outbound'];
const OK = 200;
const MIN_ID = '00000000-0000-0000-0000-000000000000';
const MAX_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

const off = (methods: readonly string[]): string =>
  methods.map((method) => `SET LOCAL enable_${method} = off`).join('; ');

/**
 * Settings for the transaction of `listSql`. They permit only a scan of the index in the order of the list: with wrong
 * estimates of rare combinations the planner would read or sort all exchanges.
 */
export const PLANNER = off(['sort', 'incremental_sort', 'bitmapscan', 'seqscan']);

/** Settings for the transaction of `referenceSql`: they permit only the index of keys. The lock keeps every partition until its end. */
export const REFERENCE_PLANNER = `${off(['indexscan', 'indexonlyscan', 'seqscan'])}; LOCK TABLE exchanges IN ACCESS SHARE MODE`;

type Parameter = (value: unknown) => string;

/** Columns of an index before the id, with their values as SQL. */
type Key = readonly (readonly [column: string, value: string])[];

/** Exchanges that a list with a reference reads before it uses the index of keys. */
const NEWEST = 1_000;

/**
 * The newest exchanges of a filter. Each statement reads the index of the most selective filter from its newest end. A
 * filter by hauler, direction or interface reads one range for each combination, and a class of statuses one range for
 * each status that occurs. With a reference it finds only those among the newest exchanges of the other filters: enough for a page
 * of a frequent value.
 */
export function listSql({ reference, ...filter }: ExchangeFilter, pageSize: number): Statement {
  const parameters: unknown[] = [];
  const parameter: Parameter = (value) => `$${parameters.push(value)}`;
  const bounds = boundsOf(filter, parameter);
  const conditions = [...conditionsOf(filter, parameter), ...ownersOf(filter, parameter)];
  const limit = reference === undefined ? pageSize : NEWEST;
  const sql = statementOf(filter, { bounds, conditions, limit, parameter });
  if (reference === undefined) return { sql, parameters };
  return { sql: `SELECT * FROM (${sql}) AS newest WHERE ${has(reference, parameter)} LIMIT ${pageSize}`, parameters };
}

const has = ({ kind, value }: Reference, parameter: Parameter): string =>
  `strpos(refs, ${parameter(JSON.stringify({ kind, value }))}) > 0`;

/**
 * The newest exchanges of one day that have one of the references. The statement reads one hour after the other, from the newest,
 * until the page is full; an hour of a frequent value has some thousand exchanges. The comparison with `refs` excludes other
 * values of the same hash. Conditions within `IS TRUE` cannot be combined with the index of keys.
 */
export function referenceSql(
  day: PartitionDay,
  filter: ExchangeFilter,
  references: readonly Reference[],
  { columns, limit }: { readonly columns: string; readonly limit: number },
): Statement {
  const parameters: unknown[] = [];
  const parameter: Parameter = (value) => `$${parameters.push(value)}`;
  const named = references.map((reference) => {
    const key = `(hour + ${FIRST_HOUR}) * ${KEYS_OF_HOUR} + ${parameter(hashOf(reference, filter.haulerId))}::int`;
    return `keys @> ARRAY[${key}] AND ${has(reference, parameter)}`;
  });
  const { first, end } = idsOf(filter);
  const hours = [Math.min(hourOf(end) - day.firstHour, 23), Math.max(hourOf(first) - day.firstHour, 0)];
  const conditions = [...rangeOf([], 'id', boundsOf(filter, parameter)), ...sqlOf(conditionsOf(filter, parameter))];
  const sql = `SELECT e.* FROM generate_series(${hours.join(', ')}, -1) AS hour
    CROSS JOIN LATERAL (SELECT ${columns} FROM ${day.partition}
      WHERE (${named.join(' OR ')}) AND (${conditions.join(' AND ')}) IS TRUE ORDER BY id DESC LIMIT ${limit}) AS e LIMIT ${limit}`;
  return { sql, parameters };
}

/** A partition of `exchanges`. */
export interface PartitionDay {
  readonly partition: string;
  /** Hours since 1970. */
  readonly firstHour: number;
}

/** Named `exchanges_YYYYMMDD`. */
export function partitionDay(partition: string): PartitionDay {
  const [, year = '', month = '', date = ''] = /(\d{4})(\d\d)(\d\d)$/.exec(partition) ?? [];
  return { partition, firstHour: Date.parse(`${year}-${month}-${date}`) / 3_600_000 };
}

interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** Built where it is needed: PostgreSQL refuses a parameter that does not occur in the statement. */
interface Condition {
  /** The column that has to equal a value. */
  readonly column?: string;
  readonly sql: () => string;
}

const sqlOf = (conditions: readonly Condition[], key: Key = []): string[] =>
  conditions.filter(({ column }) => !key.some(([name]) => name === column)).map(({ sql }) => sql());

interface Parts {
  readonly bounds: Bounds;
  readonly conditions: readonly Condition[];
  readonly limit: number;
  readonly parameter: Parameter;
}

function statementOf(filter: Omit<ExchangeFilter, 'reference'>, parts: Parts): string {
  const { parameter } = parts;
  const { requestId, errorCode, status, apiKeyId, connectionId, haulerId } = filter;
  // Each parameter must occur in the statement.
  const hauler = (): Key => (haulerId === undefined ? [] : [['hauler_id', `${parameter(haulerId)}::uuid`]]);
  if (requestId !== undefined) {
    // A hash index has no order: few exchanges have the same request id.
    return `SELECT * FROM (${plain({ ...parts, limit: undefined })} OFFSET 0) AS e ORDER BY id DESC LIMIT ${parts.limit}`;
  }
  if (connectionId !== undefined) return newest([['connection_id', parameter(connectionId)]], parts, isPresent);
  // The failures of a key are found among those of its hauler.
  if (apiKeyId !== undefined && haulerId === undefined) {
    return newest([['api_key_id', parameter(apiKeyId)]], parts, isPresent);
  }
  if (errorCode !== undefined) {
    return newest([...hauler(), ['error_code', parameter(errorCode)]], parts, () => ['error_code IS NOT NULL']);
  }
  if (status !== undefined && status[0] !== OK) return byStatus(status, hauler(), parts);
  if (apiKeyId !== undefined) return newest([['api_key_id', parameter(apiKeyId)]], parts, isPresent);
  return byInterface(filter, hauler(), parts);
}

const isPresent = ([first]: Key): string[] => (first === undefined ? [] : [`${first[0]} IS NOT NULL`]);

function byInterface(filter: ExchangeFilter, hauler: Key, parts: Parts): string {
  const { direction, interface: name, haulerId } = filter;
  if ((direction ?? name ?? haulerId) === undefined) return plain(parts);
  const directions = direction === undefined ? DIRECTIONS : [direction];
  const interfaces = name === undefined ? INTERFACES : [name];
  const keys = directions.flatMap((one) =>
    interfaces.map((other): Key => [...hauler, ['direction', `'${one}'`], ['interface', `'${other}'`]]),
  );
  const arms = keys.map((key) => `(${newest(key, parts)})`);
  if (arms.length === 1) return arms[0] ?? '';
  return `SELECT ${LISTED} FROM (${arms.join(' UNION ALL ')}) AS e ORDER BY id DESC LIMIT ${parts.limit}`;
}

/** Finds the statuses that occur in the index, one after the other, and the newest exchanges of each. */
function byStatus([first, last]: readonly [number, number], hauler: Key, parts: Parts): string {
  const isFailure = () => [`status <> ${OK}`];
  if (first === last) return newest([...hauler, ['status', String(first)]], parts, isFailure);
  const columns = [...hauler.map(([column]) => column), 'status'];
  const next = (after: string) => {
    const row = (status: string) => `(${[...hauler.map(([, value]) => value), status].join(', ')})`;
    const range = `(${columns.join(', ')}) > ${row(after)} AND (${columns.join(', ')}) <= ${row(String(last))}`;
    return `(SELECT status FROM exchanges WHERE ${range} AND status <> ${OK} ORDER BY ${columns.join(', ')} LIMIT 1)`;
  };
  return `WITH RECURSIVE found AS (SELECT ${next(String(first - 1))} AS status
      UNION ALL SELECT ${next('found.status')} FROM found WHERE found.status IS NOT NULL)
    SELECT ${LISTED} FROM (SELECT e.* FROM found CROSS JOIN LATERAL (
      ${newest([...hauler, ['status', 'found.status']], parts, isFailure)}) AS e) AS e ORDER BY id DESC LIMIT ${parts.limit}`;
}

/**
 * The newest exchanges of one range of an index. The comparison of rows and the order by all columns exclude every other
 * index, because the planner overestimates rare combinations of frequent values.
 * `implied` are the conditions of a partial index.
 */
function newest(key: Key, { bounds, conditions, limit }: Parts, implied: (key: Key) => string[] = () => []): string {
  // With an equality the order by the column would be redundant, and another index would have the order as well.
  const where = [...rangeOf(key, 'id', bounds), ...implied(key), ...sqlOf(conditions, key)].join(' AND ');
  const order = [...key.map(([column]) => column), 'id'].map((column) => `${column} DESC`).join(', ');
  return `SELECT ${LISTED} FROM exchanges WHERE ${where} ORDER BY ${order} LIMIT ${limit}`;
}

function plain({ bounds, conditions, limit }: Omit<Parts, 'limit'> & { readonly limit: number | undefined }): string {
  const where = [...rangeOf([], 'id', bounds), ...sqlOf(conditions)].join(' AND ');
  return `SELECT ${LISTED} FROM exchanges WHERE ${where}${limit === undefined ? '' : ` ORDER BY id DESC LIMIT ${limit}`}`;
}

/** Ids as SQL: the first is included, the second is not. */
interface Bounds {
  readonly first: string;
  readonly end: string;
}

function idsOf({ from, to, before }: ExchangeFilter): { readonly first: string; readonly end: string } {
  const ends = [to === undefined ? MAX_ID : minUuidv7Of(to), before ?? MAX_ID].sort();
  return { first: from === undefined ? MIN_ID : minUuidv7Of(from), end: ends[0] ?? MAX_ID };
}

function boundsOf(filter: ExchangeFilter, parameter: Parameter): Bounds {
  const { first, end } = idsOf(filter);
  return { first: `${parameter(first)}::uuid`, end: `${parameter(end)}::uuid` };
}

/** The bare id selects the partitions, and the row the range of the index. */
function rangeOf(key: Key, id: string, { first, end }: Bounds): string[] {
  const bare = [`${id} >= ${first}`, `${id} < ${end}`];
  if (key.length === 0) return bare;
  const columns = `(${[...key.map(([column]) => column), id].join(', ')})`;
  const row = (bound: string) => `(${[...key.map(([, value]) => value), bound].join(', ')})`;
  return [...bare, `${columns} >= ${row(first)}`, `${columns} < ${row(end)}`];
}

function conditionsOf(filter: ExchangeFilter, parameter: Parameter): Condition[] {
  const columns = {
    direction: filter.direction,
    interface: filter.interface,
    hauler_id: filter.haulerId,
    connection_id: filter.connectionId,
    api_key_id: filter.apiKeyId,
    error_code: filter.errorCode,
    request_id: filter.requestId,
  };
  const conditions: Condition[] = Object.entries(columns)
    .filter(([, value]) => value !== undefined)
    .map(([column, value]) => ({ column, sql: () => `${column} = ${parameter(value)}` }));
  const { status } = filter;
  if (status !== undefined) conditions.push({ sql: () => `status BETWEEN ${status[0]} AND ${status[1]}` });
  return conditions;
}

/** A key or connection of another hauler has no exchange of this hauler. One look-up replaces a check of each exchange. */
function ownersOf({ haulerId, apiKeyId, connectionId }: ExchangeFilter, parameter: Parameter): Condition[] {
  if (haulerId === undefined) return [];
  const ownedBy = (table: string, id: string) => (): string => {
    const [hauler, other] = [parameter(haulerId), parameter(id)];
    return `coalesce((SELECT o.hauler_id FROM ${table} o WHERE o.id = ${other}::uuid), ${hauler}::uuid) = ${hauler}::uuid`;
  };
  return [
    ...(apiKeyId === undefined ? [] : [{ sql: ownedBy('api_keys', apiKeyId) }]),
    ...(connectionId === undefined ? [] : [{ sql: ownedBy('connections', connectionId) }]),
  ];
}
