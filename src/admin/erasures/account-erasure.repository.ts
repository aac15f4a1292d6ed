import type { Querying } from '../../database/sql.js';

/** What names a person or company in the account. */
export interface AccountTexts {
  readonly id: string;
  readonly account_number: string;
  readonly account_name: string;
  readonly email: string | null;
  readonly phone: string | null;
}

export async function findAccount(database: Querying, haulerId: string, id: string): Promise<AccountTexts | undefined> {
  const [row] = await database.query<AccountTexts[]>(
    'SELECT id, account_number, account_name, email, phone FROM accounts WHERE hauler_id = $1 AND id = $2',
    [haulerId, id],
  );
  return row;
}

const MENTIONED = (column: string, texts: string): string =>
  `EXISTS (SELECT FROM unnest(${texts}::text[]) AS text WHERE strpos(lower(${column}), text) > 0)`;

/** The members of custom fields that are the account's id, number, name or address; all others stay. */
const FIELDS = (json: string): string => `(
  SELECT json_object_agg(key, CASE WHEN lower(value) = ANY ($2::text[]) THEN '[erased]' ELSE value END)::text
  FROM json_each_text(${json}))`;

const NAMING = 'EXISTS (SELECT FROM json_each_text(custom_fields::json) WHERE lower(value) = ANY ($2::text[]))';
const SENT = `body::json #> '{customFields}'`;
const PUSHED = `CASE WHEN json_typeof(${SENT}) = 'object' THEN ${SENT} ELSE '{}' END`;
const NAMING_PUSH = `${MENTIONED('body', '$2')}
  AND EXISTS (SELECT FROM json_each_text(${PUSHED}) WHERE lower(value) = ANY ($2::text[]))`;
const ANSWERS = `hauler_id = $1 AND ${MENTIONED('body', '$2')}`;
const DELIVERIES = `hauler_id = $1 AND (${MENTIONED('data', '$2')} OR ${MENTIONED("coalesce(response_body, '')", '$2')})`;
const ACTIONS = `(resource = 'account:' || $1::text OR ${MENTIONED('changes', '$2')})`;

const STATEMENTS = {
  tickets: [
    `SELECT count(*)::float8 AS count FROM tickets WHERE hauler_id = $1 AND custom_fields IS NOT NULL AND ${NAMING}`,
    `UPDATE tickets SET custom_fields = ${FIELDS('custom_fields::json')}
     WHERE hauler_id = $1 AND custom_fields IS NOT NULL AND ${NAMING}`,
  ],
  revisions: [
    `SELECT count(*)::float8 AS count FROM ticket_revisions WHERE hauler_id = $1 AND ${NAMING_PUSH}`,
    `UPDATE ticket_revisions
     SET body = jsonb_set(body::jsonb, '{customFields}', ${FIELDS(PUSHED)}::jsonb)::text
     WHERE hauler_id = $1 AND ${NAMING_PUSH}`,
  ],
  answers: [
    `SELECT count(*)::float8 AS count FROM idempotency_keys WHERE ${ANSWERS}`,
    `DELETE FROM idempotency_keys WHERE ${ANSWERS}`,
  ],
  // As a whole: what is left of one could be sent again.
  deliveries: [
    `SELECT count(*)::float8 AS count FROM webhook_deliveries WHERE ${DELIVERIES}`,
    `DELETE FROM webhook_deliveries WHERE ${DELIVERIES}`,
  ],
  actions: [
    `SELECT count(*)::float8 AS count FROM actions WHERE changes IS NOT NULL AND ${ACTIONS}`,
    `UPDATE actions SET changes = '{"erased":true}' WHERE changes IS NOT NULL AND ${ACTIONS}`,
  ],
} as const;

export type AccountPlace = keyof typeof STATEMENTS;
export const ACCOUNT_PLACES = Object.keys(STATEMENTS) as AccountPlace[];

/** `owner`: the hauler, and for actions the account. Texts are in lower case. */
export async function countIn(
  database: Querying,
  place: AccountPlace,
  owner: string,
  texts: readonly string[],
): Promise<number> {
  const [row] = await database.query<[{ count: number }]>(STATEMENTS[place][0], [owner, texts]);
  return row.count;
}

export async function eraseIn(
  database: Querying,
  place: AccountPlace,
  owner: string,
  texts: readonly string[],
): Promise<number> {
  const [, count] = await database.query<[unknown[], number]>(STATEMENTS[place][1], [owner, texts]);
  return count;
}

export async function deleteAccount(database: Querying, haulerId: string, id: string): Promise<number> {
  const [, count] = await database.query<[unknown[], number]>('DELETE FROM accounts WHERE hauler_id = $1 AND id = $2', [
    haulerId,
    id,
  ]);
  return count;
}
