import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { invalid } from '../errors/app-error.js';
import { type DataSource, type EntityTarget, type FindOptionsWhere, In } from 'typeorm';
import type { ListPagination, ListQuery } from '../../contracts/admin/list.dto.js';
import { pageRequest } from '../../contracts/common/pagination.dto.js';
import { listedHaulers, refuseLimited } from './hauler-limit.js';
import { isUnreadableValue } from './postgres-errors.js';
import type { Sql } from './sql.js';

/** Where a list goes on. Each part is a value of the sort key, or a row number. */
type CursorParts = readonly (string | number)[];

/** Of this process. A process that serves lists signs with the key of all instances. */
let key = randomBytes(32);

/** Cursors are then valid for every instance with this SECRETS_KEY, also after a restart. */
export function signCursors(secretsKey: Buffer): void {
  key = Buffer.from(hkdfSync('sha256', secretsKey, '', 'haulbridge cursors', 32));
}

/** A cursor is valid for the list, the filters and the caller that `scope` names: it has a MAC of them and of its parts. */
export function cursorOf(scope: unknown, parts: CursorParts): string {
  const mac = createHmac('sha256', key)
    .update(JSON.stringify([scope, parts]))
    .digest('base64url');
  return Buffer.from(JSON.stringify([mac.slice(0, 16), ...parts])).toString('base64url');
}

/** Throws `invalid` for a text that `cursorOf` did not return for this scope. */
export function partsOf(cursor: string, scope: unknown): CursorParts {
  const parts = parsed(cursor);
  if (parts === undefined || !isSame(cursorOf(scope, parts), cursor)) throw invalidCursor();
  return parts;
}

/** Also of a cursor whose parts are no key of the list, such as that of an earlier version. */
export function invalidCursor() {
  const message = 'cursor must be the `next` of a page with the same filters';
  return invalid([{ path: 'cursor', rule: 'isCursor', message }]);
}

function isSame(own: string, given: string): boolean {
  const [one, other] = [Buffer.from(own), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function parsed(cursor: string): CursorParts | undefined {
  try {
    const [, ...parts] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [string, ...CursorParts];
    return parts;
  } catch {
    return undefined;
  }
}

/** The filters of a query in one order, without those that say which page is wanted. */
export function filtersOf(query: object): [string, unknown][] {
  return Object.entries(query)
    .filter(([name, value]) => value !== undefined && !['page', 'pageSize', 'cursor'].includes(name))
    .sort();
}

/** Rows are counted, and pages are numbered, up to this row. A cursor goes on without a limit. */
export const LAST_ROW = 10_000;

/** A list of the admin API in the database. */
export interface SqlList {
  /** Its cursors are valid for this name and the same filters. */
  readonly name: string;
  /** A SELECT without an order; it has the columns of `key`. Several, without common rows, where each has an index of its own. */
  readonly sql: string | readonly string[];
  readonly parameters: readonly unknown[];
  /** Columns that are unique together and order the list. None is null. */
  readonly key: readonly string[];
  readonly order: 'ASC' | 'DESC';
  /** The SELECT has the hauler of each row as `list_hauler`. Without it callers that are limited to haulers are refused. */
  readonly hasHaulers?: true;
}

export interface ListPage<Row> {
  readonly rows: Row[];
  readonly pagination: Required<ListPagination>;
}

/** A row that TypeORM reads. */
interface Identified {
  readonly id: string;
}

type Keyed<Row> = Row & {
  readonly page_key: string[];
  readonly list_hauler?: string;
};

/** Where a page begins: the number of rows before it, and the key of the last of them if a cursor was sent. */
interface Start {
  readonly row: number;
  readonly after?: CursorParts;
}

/**
 * One page of a list, by OFFSET or after a cursor. Throws `invalid` for a cursor of another list or other filters, for a cursor
 * beside a page, and for a page beyond row 10,000 of a longer list; that error names the cursor to use.
 */
export async function listPage<Row extends object>(
  database: Sql,
  unlimited: SqlList,
  query: ListQuery,
): Promise<ListPage<Row>> {
  const { pageSize } = pageRequest(query);
  const list = limited(unlimited);
  const scope = [list.name, filtersOf(query)];
  const start = startOf(query, scope);
  if (isTooDeep(query, start)) await refuseLongList(database, list, scope);
  const found = isTooDeep(query, start) ? [] : await read<Keyed<Row>>(database, list, start, pageSize + 1);
  const shown = found.slice(0, pageSize);
  const end = start.row + shown.length;
  const last = found.length > pageSize ? shown.at(-1) : undefined;
  // The last page of a list says how long the list is.
  const isCounted = last === undefined && query.cursor === undefined && (shown.length > 0 || start.row === 0);
  const total = isCounted ? end : await count(database, list);
  const next = last === undefined ? null : cursorOf(scope, [end, ...last.page_key]);
  return {
    rows: shown.map(withoutKey<Row>),
    pagination: paginationOf(start.row, pageSize, total, next),
  };
}

/** One page of a list whose SQL finds the ids of entities. */
export async function entityPage<Row extends Identified>(
  database: Sql,
  dataSource: DataSource,
  entity: EntityTarget<Row>,
  list: SqlList,
  query: ListQuery,
): Promise<ListPage<Row>> {
  const { rows: found, pagination } = await listPage<Identified>(database, list, query);
  const ids = found.map(({ id }) => id);
  const where = { id: In(ids) } as FindOptionsWhere<Row>;
  const rows = new Map((await dataSource.manager.find(entity, { where })).map((row) => [row.id, row]));
  return { rows: ids.flatMap((id) => rows.get(id) ?? []), pagination };
}

/** The positions `first` to `end` (exclusive) of one page of a list whose length is known, with the same rules. */
export function positionedPage(name: string, query: ListQuery, length: number) {
  const { pageSize } = pageRequest(query);
  const scope = [name, filtersOf(query)];
  const { row: first } = startOf(query, scope);
  if (length > LAST_ROW && isTooDeep(query, { row: first })) throw tooDeep(cursorOf(scope, [LAST_ROW]));
  const end = Math.min(first + pageSize, length);
  const next = end < length ? cursorOf(scope, [end]) : null;
  return {
    first,
    end,
    pagination: paginationOf(first, pageSize, length, next),
  };
}

/** The rows of the haulers that the caller may see. PostgreSQL moves the condition into the SELECT. */
function limited(list: SqlList): SqlList {
  const haulers = listedHaulers();
  if (haulers === undefined) return list;
  if (list.hasHaulers !== true) throw refuseLimited();
  const own = `WHERE own.list_hauler = ANY ($${list.parameters.length + 1}::uuid[])`;
  const sql = [list.sql].flat().map((arm) => `SELECT own.* FROM (${arm}) AS own ${own}`);
  return { ...list, sql, parameters: [...list.parameters, haulers] };
}

function startOf(query: ListQuery, scope: unknown): Start {
  const { cursor, page } = query;
  if (cursor === undefined) return { row: pageRequest(query).offset };
  if (page !== undefined) {
    const message = 'cursor and page exclude each other: send one of them';
    throw invalid([{ path: 'cursor', rule: 'isAlone', message }]);
  }
  const [row, ...after] = partsOf(cursor, scope);
  if (typeof row !== 'number') throw invalidCursor();
  return { row, after };
}

const isTooDeep = ({ cursor }: ListQuery, { row }: Start) => cursor === undefined && row >= LAST_ROW;

async function refuseLongList(database: Sql, list: SqlList, scope: unknown): Promise<void> {
  const [last, further] = await read<Keyed<object>>(database, list, { row: LAST_ROW - 1 }, 2);
  if (last !== undefined && further !== undefined) throw tooDeep(cursorOf(scope, [LAST_ROW, ...last.page_key]));
}

function tooDeep(cursor: string) {
  const message = `page must begin within the first ${LAST_ROW} rows: to go on after them, send cursor=${cursor} instead of page`;
  return invalid([{ path: 'page', rule: 'max', message }], { cursor });
}

async function read<Row>(
  database: Sql,
  { sql, parameters, key, order }: SqlList,
  { row, after }: Start,
  limit: number,
): Promise<Row[]> {
  const [comparison, orderBy] = [
    order === 'ASC' ? '>' : '<',
    key.map((column) => `list.${column} ${order}`).join(', '),
  ];
  if (after !== undefined && after.length !== key.length) throw invalidCursor();
  const values = key.map((_, i) => `$${parameters.length + 1 + i}`).join(', ');
  const position =
    after === undefined ? '' : `WHERE (${key.map((column) => `list.${column}`).join(', ')}) ${comparison} (${values})`;
  const offset = after === undefined ? row : 0;
  const first = armsOf(sql, `${position} ORDER BY ${orderBy} LIMIT ${limit + offset}`);
  try {
    return await database.query<Row>(
      `SELECT list.*, ARRAY[${key.map((column) => `list.${column}::text`).join(', ')}] AS page_key
       FROM (${first}) AS list ORDER BY ${orderBy} LIMIT ${limit} OFFSET ${offset}`,
      [...parameters, ...(after ?? [])],
    );
  } catch (error) {
    throw after !== undefined && isUnreadableValue(error) ? invalidCursor() : error;
  }
}

/** How many rows there are, at most one more than `LAST_ROW`. */
async function count(database: Sql, { sql, parameters, key, order }: SqlList): Promise<number> {
  // In the order of the list, so that PostgreSQL reads an index and stops.
  const orderBy = key.map((column) => `list.${column} ${order}`).join(', ');
  const counted = await database.only<{ rows: number }>(
    `SELECT count(*)::int AS rows FROM (
       SELECT FROM (${armsOf(sql, `ORDER BY ${orderBy} LIMIT ${LAST_ROW + 1}`)}) AS counted LIMIT ${LAST_ROW + 1}) AS counted`,
    [...parameters],
  );
  return counted.rows;
}

/** PostgreSQL reads the indexes of several SELECTs in order only if each of them has the order and the limit. */
const armsOf = (sql: SqlList['sql'], end: string): string =>
  [sql]
    .flat()
    .map((arm) => `(SELECT list.* FROM (${arm}) AS list ${end})`)
    .join(' UNION ALL ');

function withoutKey<Row extends object>({ page_key: _key, list_hauler: _hauler, ...row }: Keyed<Row>): Row {
  return row as unknown as Row;
}

function paginationOf(row: number, pageSize: number, length: number, next: string | null): Required<ListPagination> {
  const totalItems = Math.min(length, LAST_ROW);
  return {
    page: Math.floor(row / pageSize) + 1,
    pageSize,
    totalItems,
    totalPages: Math.ceil(totalItems / pageSize),
    more: length > LAST_ROW,
    next,
  };
}
