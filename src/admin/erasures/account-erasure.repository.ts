import type { Sql } from '../../core/database/sql.js';

/** What names a person or company in the account. */
export interface AccountValues {
  readonly id: string;
  readonly account_number: string;
  readonly account_name: string;
  readonly email: string | null;
  readonly phone: string | null;
}

export async function findAccount(database: Sql, haulerId: string, id: string): Promise<AccountValues | undefined> {
  return database.first<AccountValues>(
    'SELECT id, account_number, account_name, email, phone FROM accounts WHERE hauler_id = $1 AND id = $2',
    [haulerId, id],
  );
}

/** Whether any hauler has it. */
export async function isAccount(database: Sql, id: string): Promise<boolean> {
  return (await database.query('SELECT FROM accounts WHERE id = $1', [id])).length > 0;
}

/** A whole value, in any case; never a part of one. */
const isErased = (value: string): string =>
  `lower(${value}) IN (SELECT lower(sought) FROM unnest($2::text[]) AS sought)`;

/** The tickets of the hauler with a custom field that is one of the values. Locks nothing. */
export async function findTickets(
  database: Sql,
  haulerId: string,
  values: readonly string[],
): Promise<readonly string[]> {
  const rows = await database.query<{ id: string }>(
    `SELECT id FROM tickets WHERE hauler_id = $1 AND custom_fields IS NOT NULL
       AND EXISTS (SELECT FROM json_each_text(custom_fields::json) AS field WHERE ${isErased('field.value')})`,
    [haulerId, values],
  );
  return rows.map(({ id }) => id);
}

/** Replaces those custom fields; all others stay. */
export async function eraseInTickets(
  database: Sql,
  haulerId: string,
  values: readonly string[],
  ids: readonly string[],
): Promise<void> {
  await database.query(
    `UPDATE tickets SET custom_fields = (
       SELECT json_object_agg(field.key, CASE WHEN ${isErased('field.value')} THEN '[erased]' ELSE field.value END
         ORDER BY field.place)::text
       FROM json_each_text(custom_fields::json) WITH ORDINALITY AS field (key, value, place))
     WHERE hauler_id = $1 AND id = ANY ($3::uuid[]) AND custom_fields IS NOT NULL`,
    [haulerId, values, ids],
  );
}

export interface KeptPush {
  readonly ticket_id: string;
  readonly revision: number;
  /** As it was sent. */
  readonly body: string;
  /** What it changed, as JSON. */
  readonly changes: string | null;
}

/**
 * Pushes of the hauler after another one, of which some have one of the values: the caller compares their fields. A body with an
 * escape sequence may spell a value in another way.
 */
export function findPushes(
  database: Sql,
  haulerId: string,
  values: readonly string[],
  after: KeptPush | undefined,
  limit: number,
): Promise<KeptPush[]> {
  return database.query<KeptPush>(
    `SELECT ticket_id, revision, body, changes::text AS changes FROM ticket_revisions
     WHERE hauler_id = $1 AND ($3::uuid IS NULL OR (ticket_id, revision) > ($3, $4::integer))
       AND (strpos(body, '\\') > 0
         OR EXISTS (SELECT FROM unnest($2::text[]) AS sought WHERE strpos(lower(body), lower(sought)) > 0
           OR strpos(lower(changes::text), lower(to_json(sought)::text)) > 0))
     ORDER BY ticket_id, revision LIMIT $5`,
    [haulerId, values, after?.ticket_id ?? null, after?.revision ?? null, limit],
  );
}

export async function storePush(
  database: Sql,
  haulerId: string,
  { ticket_id, revision, body, changes }: KeptPush,
): Promise<void> {
  await database.query(
    'UPDATE ticket_revisions SET body = $4, changes = $5 WHERE hauler_id = $1 AND ticket_id = $2 AND revision = $3',
    [haulerId, ticket_id, revision, body, changes],
  );
}

export async function deleteAccount(database: Sql, haulerId: string, id: string): Promise<number> {
  return database.change('DELETE FROM accounts WHERE hauler_id = $1 AND id = $2', [haulerId, id]);
}
