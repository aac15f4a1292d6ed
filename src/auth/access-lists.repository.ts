import type { ApiKeyQuery } from '../contracts/admin/api-key.dto.js';
import type { HaulerMove } from '../contracts/admin/hauler.dto.js';
import type { SqlList } from '../database/list-page.js';
import type { Querying } from '../database/sql.js';

const NEWEST_FIRST = { key: ['created_at', 'id'], order: 'DESC' } as const;

export const HAULERS: SqlList = {
  name: 'haulers',
  sql: 'SELECT id, created_at, id AS list_hauler FROM haulers',
  hasHaulers: true,
  parameters: [],
  ...NEWEST_FIRST,
};

export const apiKeys = ({ haulerId, connectionId }: ApiKeyQuery): SqlList => ({
  name: 'api-keys',
  sql: `SELECT id, created_at, hauler_id AS list_hauler FROM api_keys
    WHERE ($1::uuid IS NULL OR hauler_id = $1) AND ($2::uuid IS NULL OR connection_id = $2)`,
  parameters: [haulerId ?? null, connectionId ?? null],
  hasHaulers: true,
  ...NEWEST_FIRST,
});

/** A key that ends soon, or that was in use when it ended, and whose successor is not in use. */
export interface EndingKey {
  readonly id: string;
  readonly prefix: string;
  readonly name: string | null;
  readonly hauler_id: string | null;
  readonly expires_at: Date;
  readonly has_ended: boolean;
  /** One that has not been used. */
  readonly has_successor: boolean;
}

/** The keys that end within 14 days, or that ended in the last 7 days and were used in the 7 days before. */
export function endingKeys(database: Querying): Promise<EndingKey[]> {
  return database.query(
    `SELECT id, prefix, name, hauler_id, expires_at, expires_at <= now() AS has_ended, EXISTS (
         SELECT FROM api_keys AS next WHERE next.replaces_id = key.id AND next.revoked_at IS NULL) AS has_successor
     FROM api_keys AS key
     WHERE revoked_at IS NULL AND (replaces_id IS NULL OR activated_at IS NOT NULL)
       AND expires_at < now() + interval '14 days' AND (expires_at > now()
         OR expires_at > now() - interval '7 days' AND last_used_at > expires_at - interval '7 days')
       AND NOT EXISTS (
         SELECT FROM api_keys AS next WHERE next.replaces_id = key.id AND next.revoked_at IS NULL AND next.activated_at IS NOT NULL)`,
    [],
  );
}

/** The names of haulers by id. */
export async function haulerNames(database: Querying, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await database.query<{ id: string; name: string }[]>(
    'SELECT id, name FROM haulers WHERE id = ANY ($1::uuid[])',
    [ids],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

export interface HaulerMoveRow {
  readonly hauler_id: string;
  readonly state: HaulerMove['state'];
  readonly since: Date;
  readonly exported_at: Date | null;
}

/** The moves of haulers between cells, by hauler. */
export async function haulerMoves(
  database: Querying,
  ids: readonly string[],
): Promise<ReadonlyMap<string, HaulerMoveRow>> {
  const rows = await database.query<HaulerMoveRow[]>(
    'SELECT hauler_id, state, since, exported_at FROM hauler_moves WHERE hauler_id = ANY ($1::uuid[])',
    [ids],
  );
  return new Map(rows.map((row) => [row.hauler_id, row]));
}

/** The haulers that are locked. */
export function lockedHaulers(database: Querying): Promise<(HaulerMoveRow & { readonly name: string })[]> {
  return database.query(
    `SELECT m.hauler_id, m.state, m.since, m.exported_at, h.name
       FROM hauler_moves AS m JOIN haulers AS h ON h.id = m.hauler_id WHERE m.state = 'locked'`,
    [],
  );
}
