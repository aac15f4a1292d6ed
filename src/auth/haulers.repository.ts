import type { Sql } from '../core/database/sql.js';
import type { SqlList } from '../core/database/list-page.js';
import type { HaulerEntity } from './auth.entity.js';

/** The hauler of a thing, by the kind of a resource. */
const OWNERS: Readonly<Record<string, string>> = {
  hauler: 'SELECT id AS hauler_id FROM haulers WHERE id = $1',
  connection: 'SELECT hauler_id FROM connections WHERE id = $1',
  'api-key': 'SELECT hauler_id FROM api_keys WHERE id = $1',
  'sync-run': 'SELECT hauler_id FROM sync_runs WHERE id = $1',
  ticket: 'SELECT hauler_id FROM tickets WHERE id = $1',
  account: 'SELECT hauler_id FROM accounts WHERE id = $1',
  'video-request': 'SELECT hauler_id FROM video_requests WHERE id = $1',
  'video-subscription': 'SELECT hauler_id FROM video_subscriptions WHERE id = $1',
  recording: 'SELECT hauler_id FROM recordings WHERE id = $1',
  hold: 'SELECT hauler_id FROM holds WHERE id = $1',
  share: 'SELECT hauler_id FROM recording_shares WHERE id = $1',
  exchange: 'SELECT hauler_id FROM exchanges WHERE id = $1',
};

/** Undefined if there is no such thing, or if it belongs to no hauler. */
export async function ownerOf(database: Sql, resource: string, id: string): Promise<string | undefined> {
  const { [resource]: sql } = OWNERS;
  if (sql === undefined) throw new Error(`nothing says which hauler a ${resource} belongs to`);
  const row = await database.first<{ hauler_id: string | null }>(sql, [id]);
  return row?.hauler_id ?? undefined;
}

/**
 * Gives a hauler without a retention of its own, or each, that of `VIDEO_RETENTION_DAYS` (0: for ever). A variable that is changed later
 * changes nothing for it.
 */
export async function storeMissingRetentions(database: Sql, days: number, haulerId?: string): Promise<void> {
  await database.query(
    `INSERT INTO hauler_retention (hauler_id, on_demand_days, continuous_days)
     SELECT id, nullif($1::integer, 0), nullif($1::integer, 0) FROM haulers WHERE $2::uuid IS NULL OR id = $2
     ON CONFLICT DO NOTHING`,
    [days, haulerId ?? null],
  );
}

export const HAULERS: SqlList = {
  name: 'haulers',
  sql: 'SELECT id, created_at, id AS list_hauler FROM haulers',
  hasHaulers: true,
  parameters: [],
  key: ['created_at', 'id'],
  order: 'DESC',
};

export async function insertHauler(database: Sql, { id, name, createdAt }: HaulerEntity): Promise<void> {
  await database.change('INSERT INTO haulers (id, name, created_at) VALUES ($1, $2, $3)', [id, name, createdAt]);
}

export async function haulerNames(database: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await database.query<{ id: string; name: string }>(
    'SELECT id, name FROM haulers WHERE id = ANY ($1::uuid[])',
    [ids],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}
