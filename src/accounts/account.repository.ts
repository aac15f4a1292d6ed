import type { AccountQuery } from '../contracts/admin/account.dto.js';
import type { PageRequest } from '../contracts/common/pagination.dto.js';
import { expectedRows } from '../database/count.js';
import type { IdPage, PageMarks } from '../database/page-marks.js';
import { LOCK_TIMEOUT_MS } from '../database/settle-batch.js';
import type { Querying } from '../database/sql.js';
import { gramsOf, searchTerm } from './account-search.js';
import type { AccountEntity } from './account.entity.js';

export type AccountKey = Pick<AccountEntity, 'id' | 'accountNumber'>;
type NameKey = Pick<AccountEntity, 'haulerId' | 'nameDigest'>;
type Column = readonly [name: string, property: keyof AccountEntity];

/** The unique name of an account is first. */
const COLUMNS = {
  hauler_id: 'haulerId',
  name_digest: 'nameDigest',
  id: 'id',
  account_number: 'accountNumber',
  account_name: 'accountName',
  search_text: 'searchText',
  search_grams: 'searchGrams',
  address_id: 'addressId',
  street: 'street',
  unit: 'unit',
  city: 'city',
  state: 'state',
  country: 'country',
  zip: 'zip',
  contact_id: 'contactId',
  first_name: 'firstName',
  last_name: 'lastName',
  email: 'email',
  phone: 'phone',
  created_at: 'createdAt',
  updated_at: 'updatedAt',
} as const satisfies Record<string, keyof AccountEntity>;

const ALL_COLUMNS: readonly Column[] = Object.entries(COLUMNS);
const NAME_COLUMNS = ALL_COLUMNS.slice(0, 2);
const NAMES = Object.keys(COLUMNS).join(', ');

/**
 * The accounts are one JSON text, which PostgreSQL reads as rows of the table. The timeout is for this statement alone: the
 * other work on these connections may wait for locks.
 */
const INSERT = `
  INSERT INTO accounts (${NAMES})
  SELECT ${NAMES} FROM json_populate_recordset(NULL::accounts, $1), set_config('lock_timeout', '${LOCK_TIMEOUT_MS}', true)
      ON CONFLICT ON CONSTRAINT accounts_name_taken DO NOTHING
  RETURNING id`;

/** A statement of its own: its snapshot includes the accounts of other transactions that `INSERT` has waited for. */
const FIND_BY_NAME = `
  SELECT a.hauler_id AS "haulerId", a.id, a.account_number AS "accountNumber", a.name_digest AS "nameDigest"
    FROM accounts a JOIN json_populate_recordset(NULL::accounts, $1) AS taken USING (hauler_id, name_digest)`;

/**
 * Inserts the accounts whose hauler has none of the same name. Returns for each the account that has the name now, in the
 * same order.
 */
export async function insertAccounts(database: Querying, rows: readonly AccountEntity[]): Promise<AccountKey[]> {
  // In the order of the unique index: batches wait for each other and cannot deadlock.
  const sorted = rows.toSorted(byName);
  const inserted = await database.query<{ id: string }[]>(INSERT, [jsonOf(sorted, ALL_COLUMNS)]);
  const created = new Set(inserted.map(({ id }) => id));
  const taken = rows.filter(({ id }) => !created.has(id));
  if (taken.length === 0) return [...rows];
  const found = await database.query<(AccountKey & NameKey)[]>(FIND_BY_NAME, [jsonOf(taken, NAME_COLUMNS)]);
  const owners = new Map(found.map((owner) => [nameKey(owner), owner]));
  return rows.map((row) => {
    const owner = created.has(row.id) ? row : owners.get(nameKey(row));
    if (owner === undefined) throw new Error('the account with the same name was deleted meanwhile');
    return owner;
  });
}

const nameKey = ({ haulerId, nameDigest }: NameKey) => `${haulerId} ${nameDigest.toString('hex')}`;
const byName = (a: NameKey, b: NameKey) =>
  a.haulerId === b.haulerId ? Buffer.compare(a.nameDigest, b.nameDigest) : a.haulerId < b.haulerId ? -1 : 1;

function jsonOf(rows: readonly AccountEntity[], columns: readonly Column[]): string {
  const records = rows.map((row) => {
    const record: Record<string, unknown> = {};
    for (const [name, property] of columns) record[name] = jsonValue(row[property]);
    return record;
  });
  return JSON.stringify(records);
}

/** The forms of bytes and of arrays that PostgreSQL reads from a text. */
function jsonValue(value: AccountEntity[keyof AccountEntity]): unknown {
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  return Array.isArray(value) ? `{${value.join(',')}}` : value;
}

/** Reserves account numbers (decision 29). */
export async function reserveAccountNumbers(database: Querying, count: number): Promise<string[]> {
  const rows = await database.query<{ number: string }[]>(
    "SELECT nextval('account_numbers') AS number FROM generate_series(1, $1::int)",
    [count],
  );
  return rows.map(({ number }) => `A-${number}`);
}

/** A search of fewer accounts is exact. */
const LARGE_SEARCH = 100_000;
/** If a word is common, so many of the newest accounts contain enough matches for a page. */
const NEWEST_ACCOUNTS = 10_000;

/**
 * The ids of a page, newest first, and the total, within a transaction. The total of a search in more than 100,000 accounts
 * may be an estimate.
 */
export async function findAccountPage(
  manager: Querying,
  query: AccountQuery,
  page: PageRequest,
  marks: PageMarks,
): Promise<IdPage> {
  // If nearly all accounts match, the planner prefers a sequential scan: 2.4 s for 400,000 accounts instead of 1.2 s.
  await manager.query('SET LOCAL enable_seqscan = off', []);
  const { haulerId } = query;
  const { where, parameters } = conditionsOf({ haulerId }, 0);
  if (query.search === undefined)
    return marks.page(manager, { sql: `SELECT id FROM accounts ${where}`, parameters }, page);
  const accounts = await expectedRows(manager, `SELECT FROM accounts ${where}`, parameters);
  const common = accounts > LARGE_SEARCH ? await findCommonWord(manager, query, page, accounts) : undefined;
  return common ?? (await findBySearch(manager, query, page));
}

/** Undefined if the newest accounts do not fill the page: the word is rare then, and its index is fast. */
async function findCommonWord(
  manager: Querying,
  { haulerId, search = '' }: AccountQuery,
  { pageSize, offset }: PageRequest,
  accounts: number,
): Promise<IdPage | undefined> {
  const { where, parameters } = conditionsOf({ haulerId }, 1);
  const rows = await manager.query<{ id: string }[]>(
    `SELECT id FROM (SELECT id, search_text FROM accounts ${where} ORDER BY id DESC LIMIT ${NEWEST_ACCOUNTS}) AS newest
     WHERE strpos(search_text, $1) > 0 ORDER BY id DESC`,
    [searchTerm(search), ...parameters],
  );
  if (rows.length < offset + pageSize) return undefined;
  const total = Math.round((rows.length / NEWEST_ACCOUNTS) * accounts);
  return { total, ids: rows.slice(offset, offset + pageSize).map(({ id }) => id) };
}

/**
 * The search runs first (MATERIALIZED): otherwise the planner might read all accounts in their order to find the newest.
 */
async function findBySearch(manager: Querying, query: AccountQuery, { pageSize, offset }: PageRequest) {
  const { where, parameters } = conditionsOf(query, 2);
  const [found] = await manager.query<[IdPage]>(
    `WITH found AS MATERIALIZED (SELECT id FROM accounts ${where})
     SELECT (SELECT count(*) FROM found)::int AS total,
            ARRAY(SELECT id FROM found ORDER BY id DESC LIMIT $1 OFFSET $2) AS ids`,
    [pageSize, offset, ...parameters],
  );
  return found;
}

/** The filters as SQL; its parameters come after `before` others. */
function conditionsOf(
  { haulerId, search }: Pick<AccountQuery, 'haulerId' | 'search'>,
  before: number,
): { where: string; parameters: unknown[] } {
  const parameters: unknown[] = [];
  const conditions: string[] = [];
  const parameter = (value: unknown) => `$${parameters.push(value) + before}`;
  if (haulerId !== undefined) conditions.push(`hauler_id = ${parameter(haulerId)}`);
  if (search !== undefined) {
    const term = searchTerm(search);
    conditions.push(`search_grams @> ${parameter(gramsOf(term))}::int[]`);
    conditions.push(`strpos(search_text, ${parameter(term)}) > 0`);
  }
  return { where: conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`, parameters };
}
