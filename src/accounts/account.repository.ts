import type { Sql } from '../core/database/sql.js';
import type { Decision, UndecidedCall } from '../exchanges/exchange-decisions.service.js';
import { nameDigest, partPattern } from './account-name.js';
import { awaitStandbys } from '../core/database/local-commit.js';
import type { AccountQuery } from '../contracts/admin/accounts.routes.js';
import { columnsOf } from '../core/database/data-source.js';
import type { SqlList } from '../core/database/list-page.js';
import { minUuidv7From } from '../core/database/uuid.js';
import { insertDeliveries } from '../webhooks/events/outbox.repository.js';
import { AccountEntity } from './account.entity.js';

/** By name and time. Parameters: exchange, hauler and name of each call, first id and the one behind the last. */
const FIND = `
  SELECT call.exchange_id AS "exchangeId", a.id AS "accountId"
    FROM unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::uuid[], $5::uuid[])
      AS call (exchange_id, hauler_id, name_digest, first_id, end_id)
    JOIN accounts a ON (a.hauler_id, a.name_digest) = (call.hauler_id, call.name_digest)
     AND a.id >= call.first_id AND a.id < call.end_id`;

/** The accounts that were created while the service worked on these calls, with the names that they sent. */
export async function findAccountDecisions(database: Sql, calls: readonly UndecidedCall[]): Promise<Decision[]> {
  const named = calls.flatMap(({ references, ...call }) => {
    const name = references.find(({ kind }) => kind === 'accountName')?.value;
    return name === undefined ? [] : { ...call, digest: nameDigest(name) };
  });
  if (named.length === 0) return [];
  const rows = await database.query<{ exchangeId: string; accountId: string }>(FIND, [
    named.map(({ exchangeId }) => exchangeId),
    named.map(({ haulerId }) => haulerId),
    named.map(({ digest }) => digest),
    named.map(({ firstId }) => firstId),
    named.map(({ endId }) => endId),
  ]);
  return rows.map(({ exchangeId, accountId }) => {
    return { exchangeId, result: 'created', reference: { kind: 'accountId', value: accountId } };
  });
}

export type AccountKey = Pick<AccountEntity, 'id' | 'accountNumber'>;
type NameKey = Pick<AccountEntity, 'haulerId' | 'nameDigest'>;

const COLUMNS = columnsOf(AccountEntity);
const NAME_COLUMNS = COLUMNS.filter(([, property]) => property === 'haulerId' || property === 'nameDigest');
const NAMES = COLUMNS.map(([name]) => name).join(', ');

/** The accounts are one JSON text, which PostgreSQL reads as rows of the table. */
const INSERT = `
  INSERT INTO accounts (${NAMES})
  SELECT ${NAMES} FROM json_populate_recordset(NULL::accounts, $1)
      ON CONFLICT ON CONSTRAINT accounts_name_taken DO NOTHING
  RETURNING id`;

const CREATED_EVENTS = `(
         SELECT id, hauler_id, NULL::uuid AS connection_id, 'account.created' AS topic,
                format('{"haulerId":"%s","accountId":"%s"}', hauler_id, id) AS data
           FROM created)`;

const INSERT_ANNOUNCED = `
  WITH created AS (${INSERT}, hauler_id),
       announced AS (${insertDeliveries(CREATED_EVENTS)})
  SELECT id FROM created`;

/** A statement of its own: its snapshot includes the accounts of other transactions that `INSERT` has waited for. */
const FIND_BY_NAME = `
  SELECT a.hauler_id AS "haulerId", a.id, a.account_number AS "accountNumber", a.name_digest AS "nameDigest"
    FROM accounts a JOIN json_populate_recordset(NULL::accounts, $1) AS taken USING (hauler_id, name_digest)`;

/**
 * Inserts the accounts whose hauler has none of the same name. Returns for each the account that has the name now, in the
 * same order.
 */
export async function insertAccounts(
  database: Sql,
  rows: readonly AccountEntity[],
  isAnnounced: boolean,
): Promise<AccountKey[]> {
  // In the order of the unique index: batches wait for each other and cannot deadlock.
  const sorted = rows.toSorted(byName);
  const sql = isAnnounced ? INSERT_ANNOUNCED : INSERT;
  const inserted = await database.query<{ id: string }>(sql, [jsonOf(sorted, COLUMNS)]);
  const created = new Set(inserted.map(({ id }) => id));
  const taken = rows.filter(({ id }) => !created.has(id));
  if (taken.length === 0) return [...rows];
  await awaitStandbys(database);
  const found = await database.query<AccountKey & NameKey>(FIND_BY_NAME, [jsonOf(taken, NAME_COLUMNS)]);
  const owners = new Map(found.map((owner) => [nameKey(owner), owner]));
  return rows.map((row) => {
    const owner = created.has(row.id) ? row : owners.get(nameKey(row));
    if (owner === undefined) throw new Error('the account with the same name was deleted meanwhile');
    return owner;
  });
}

type NamedAccount = AccountKey & Pick<AccountEntity, 'nameDigest' | 'accountName'>;

/**
 * Each key is looked up by itself. With `= ANY`, PostgreSQL reads all accounts of the hauler for each batch of an import while it
 * expects some hundred there, by any index that begins with the hauler.
 */
const ownersOf = (column: 'name_digest' | 'account_number', type: 'bytea' | 'text'): string => `
  SELECT owner.id, owner.account_number AS "accountNumber", owner.name_digest AS "nameDigest", owner.account_name AS "accountName"
    FROM unnest($2::${type}[]) AS wanted (key),
    LATERAL (SELECT * FROM accounts WHERE hauler_id = $1 AND ${column} = wanted.key LIMIT 1) AS owner`;
const OWNERS_OF_NAMES = ownersOf('name_digest', 'bytea');
const OWNERS_OF_NUMBERS = ownersOf('account_number', 'text');

export const accountsByName = (database: Sql, haulerId: string, digests: readonly Buffer[]): Promise<NamedAccount[]> =>
  database.query<NamedAccount>(OWNERS_OF_NAMES, [haulerId, digests]);

export const accountsByNumber = (
  database: Sql,
  haulerId: string,
  numbers: readonly string[],
): Promise<NamedAccount[]> => database.query<NamedAccount>(OWNERS_OF_NUMBERS, [haulerId, numbers]);

/** What the planner needs to know of the keys of accounts. Leaves it to another `ANALYZE` or `VACUUM` that is running. */
export const analyzeAccounts = (database: Sql): Promise<unknown> =>
  database.query('ANALYZE (SKIP_LOCKED) accounts (hauler_id, name_digest, account_number)', []);

const nameKey = ({ haulerId, nameDigest }: NameKey) => `${haulerId} ${nameDigest.toString('hex')}`;
const byName = (a: NameKey, b: NameKey) =>
  a.haulerId === b.haulerId ? Buffer.compare(a.nameDigest, b.nameDigest) : a.haulerId < b.haulerId ? -1 : 1;

function jsonOf(rows: readonly AccountEntity[], columns: typeof COLUMNS): string {
  const records = rows.map((row) => {
    const record: Record<string, unknown> = {};
    for (const [name, property] of columns) record[name] = jsonValue(row[property]);
    return record;
  });
  return JSON.stringify(records);
}

/** The form of bytes that PostgreSQL reads from a text. */
function jsonValue(value: AccountEntity[keyof AccountEntity]): unknown {
  return Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value;
}

/** Reserves account numbers (decision 29). */
export async function reserveAccountNumbers(database: Sql, count: number): Promise<string[]> {
  const rows = await database.query<{ number: string }>(
    "SELECT nextval('account_numbers') AS number FROM generate_series(1, $1::int)",
    [count],
  );
  return rows.map(({ number }) => `A-${number}`);
}

/** Newest first. A search finds any part of the name, number or e-mail address. */
export function accountList({ haulerId, search, from, to }: AccountQuery): SqlList {
  return {
    name: 'accounts',
    sql: `SELECT id, hauler_id AS list_hauler FROM accounts WHERE ($1::uuid IS NULL OR hauler_id = $1)
      AND ($2::text IS NULL OR search_text LIKE $2) AND ($3::uuid IS NULL OR id >= $3) AND ($4::uuid IS NULL OR id < $4)`,
    parameters: [
      haulerId ?? null,
      search === undefined ? null : partPattern(search),
      ...[from, to].map((time) => (time === undefined ? null : minUuidv7From(time))),
    ],
    hasHaulers: true,
    key: ['id'],
    order: 'DESC',
  };
}
