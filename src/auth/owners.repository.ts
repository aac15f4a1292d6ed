import type { Sql } from '../core/database/sql.js';

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
