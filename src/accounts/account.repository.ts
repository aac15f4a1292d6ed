import type { AccountQuery } from '../contracts/admin/account.dto.js';
import type { PageRequest } from '../contracts/common/pagination.dto.js';
import { countRows, expectedRows } from '../database/count.js';
import type { Querying } from '../database/querying.js';
import { gramsOf, searchTerm } from './account-search.js';
import type { AccountEntity } from './account.entity.js';

type AccountKey = Pick<AccountEntity, 'id' | 'accountNumber'>;

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

/** Parameters: `hauler_id`, `name_digest`. */
const FIND_BY_NAME = `SELECT id, account_number AS "accountNumber" FROM accounts WHERE hauler_id = $1 AND name_digest = $2`;

/** Parameters: `COLUMNS`. */
const INSERT = `
  WITH created AS (
         INSERT INTO accounts (${Object.keys(COLUMNS).join(', ')})
         VALUES (${Object.keys(COLUMNS)
           .map((_, i) => `$${i + 1}`)
           .join(', ')})
             ON CONFLICT ON CONSTRAINT accounts_name_taken DO NOTHING
         RETURNING id, account_number)
  SELECT id, account_number AS "accountNumber" FROM created
  UNION ALL
  ${FIND_BY_NAME} AND NOT EXISTS (SELECT FROM created)`;

/** Inserts the account, unless the hauler has one of the same name. Returns the account that has the name now. */
export async function insertAccount(database: Querying, row: AccountEntity): Promise<AccountKey> {
  const values = Object.values(COLUMNS).map((property) => row[property]);
  const [account] = await database.query<AccountKey[]>(INSERT, values);
  if (account !== undefined) return account;
  // Another transaction inserted it after this statement had begun.
  const [existing] = await database.query<AccountKey[]>(FIND_BY_NAME, [row.haulerId, row.nameDigest]);
  if (existing === undefined) throw new Error('the account of the same name is gone');
  return existing;
}

/** Reserves account numbers (decision 29). */
export async function reserveAccountNumbers(database: Querying, count: number): Promise<string[]> {
  const rows = await database.query<{ number: string }[]>(
    "SELECT nextval('account_numbers') AS number FROM generate_series(1, $1::int)",
    [count],
  );
  return rows.map(({ number }) => `A-${number}`);
}

export interface AccountPage {
  readonly total: number;
  readonly ids: readonly string[];
}

/** A search of fewer accounts is exact. */
const LARGE_SEARCH = 100_000;
/** Where a word is common, the newest accounts have enough of it for a page. */
const NEWEST_ACCOUNTS = 10_000;

/** The ids of a page, newest first, and the total, within a transaction. Beyond 200,000 accounts the total is an estimate. */
export async function findAccountPage(manager: Querying, query: AccountQuery, page: PageRequest): Promise<AccountPage> {
  // If nearly all accounts match, the planner prefers a sequential scan: 2.4 s for 400,000 accounts instead of 1.2 s.
  await manager.query('SET LOCAL enable_seqscan = off', []);
  if (query.search === undefined) return findPage(manager, query, page);
  const { haulerId } = query;
  const { where, parameters } = conditionsOf({ haulerId }, 0);
  const accounts = await expectedRows(manager, `SELECT FROM accounts ${where}`, parameters);
  const common = accounts > LARGE_SEARCH ? await findCommonWord(manager, query, page, accounts) : undefined;
  return common ?? (await findBySearch(manager, query, page));
}

async function findPage(manager: Querying, query: AccountQuery, { pageSize, offset }: PageRequest) {
  const { where, parameters } = conditionsOf(query, 0);
  // With its order, the count reads an index as well.
  const all = `SELECT id FROM accounts ${where} ORDER BY id DESC`;
  const total = await countRows(manager, all, parameters);
  const rows = await manager.query<{ id: string }[]>(`${all} LIMIT ${pageSize} OFFSET ${offset}`, parameters);
  return { total, ids: rows.map(({ id }) => id) };
}

/** Undefined where the newest accounts do not fill the page: the word is rare, and its index is fast. */
async function findCommonWord(
  manager: Querying,
  { haulerId, search = '' }: AccountQuery,
  { pageSize, offset }: PageRequest,
  accounts: number,
): Promise<AccountPage | undefined> {
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

/** The search runs first (MATERIALIZED): otherwise the planner might read all accounts in their order to find the newest. */
async function findBySearch(manager: Querying, query: AccountQuery, { pageSize, offset }: PageRequest) {
  const { where, parameters } = conditionsOf(query, 2);
  const [found] = await manager.query<[AccountPage]>(
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
