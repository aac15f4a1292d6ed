import type { ActionPerson } from '../../contracts/admin/actions.routes.js';
import type { HoldBundleQuery } from '../../contracts/admin/holds.routes.js';
import type { Sql } from '../../core/database/sql.js';
import { isWithin } from '../../vision/holds/held.sql.js';
import type { HoldRow } from '../../vision/holds/holds.repository.js';

/** What is needed of a held recording beside its line in the manifest, which has all columns of `findBundle`. */
export interface HeldRow {
  readonly id: string;
  readonly base_url: string;
  readonly request_id: string | null;
  readonly camera_id: string;
  readonly start_time: Date;
  readonly status: string;
  readonly size_bytes: string | null;
  readonly sha256: string | null;
  readonly created_at: Date;
  /** Its start, as PostgreSQL reads it. */
  readonly start: string;
}

type Key = Pick<HoldRow, 'hauler_id' | 'id'>;

/** The recordings of the hold $2 of the hauler $1 between $3 and $4. None is longer than 31 days. */
const HELD = `holds AS hold JOIN recordings AS r ON ${isWithin('r', 'hold')}
    AND r.start_time > hold.start_time - interval '31 days'
  WHERE hold.hauler_id = $1 AND hold.id = $2
    AND ($3::timestamptz IS NULL OR r.end_time > $3) AND ($4::timestamptz IS NULL OR r.start_time < $4)`;

const parametersOf = ({ hauler_id, id }: Key, { endsAfter, startsBefore }: HoldBundleQuery): unknown[] => [
  hauler_id,
  id,
  endsAfter ?? null,
  startsBefore ?? null,
];

export async function countBundle(database: Sql, hold: Key, range: HoldBundleQuery): Promise<number> {
  const sql = `SELECT count(*)::float8 AS count FROM ${HELD}`;
  const row = await database.only<{ count: number }>(sql, parametersOf(hold, range));
  return row.count;
}

/** At most `limit` recordings after `last`, in the order of their start. */
export function findBundle(
  database: Sql,
  hold: Key,
  range: HoldBundleQuery,
  last: HeldRow | undefined,
  limit: number,
): Promise<HeldRow[]> {
  return database.query<HeldRow>(
    `SELECT r.hauler_id, r.id, r.connection_id, connection.base_url, r.source, r.partner_recording_id, r.customer_id,
       part.request_id, part.partner_request_id, r.truck_id, r.camera_id, r.start_time, r.end_time, r.duration_seconds,
       r.status, coalesce(r.reason, r.last_error) AS reason, r.size_bytes, r.sha256, r.created_at, r.stored_at,
       r.start_time::text AS start
     FROM (SELECT r.* FROM ${HELD} AND ($5::timestamptz IS NULL OR (r.start_time, r.id) > ($5::timestamptz, $6::uuid))
       ORDER BY r.start_time, r.id LIMIT $7) AS r
     JOIN connections AS connection ON connection.id = r.connection_id
     LEFT JOIN video_request_parts AS part ON part.hauler_id = r.hauler_id AND part.id = r.part_id
     ORDER BY r.start_time, r.id`,
    [...parametersOf(hold, range), last?.start, last?.id, limit],
  );
}

export interface SeenRow {
  readonly resource: string;
  readonly at: Date;
  readonly action: string;
  readonly actor: string;
  readonly person: ActionPerson | null;
  /** Of a shared link. */
  readonly address: string | null;
}

/** The actions on these resources up to a time, the earliest first. */
export function findActions(
  database: Sql,
  resources: readonly string[],
  actions: readonly string[],
  until: Date,
): Promise<SeenRow[]> {
  return database.query<SeenRow>(
    `SELECT resource, at, action, actor, person, changes::json ->> 'address' AS address FROM actions
     WHERE resource = ANY ($1::text[]) AND action = ANY ($2::text[]) AND at <= $3 ORDER BY at, id`,
    [resources, actions, until],
  );
}
