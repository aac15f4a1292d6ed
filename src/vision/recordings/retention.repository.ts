import type { HaulerRetention } from '../../contracts/admin/retention.dto.js';
import type { Querying } from '../../database/sql.js';
import { isHeld } from '../holds/held.sql.js';
import { forgetDays, type RecordedTime } from './coverage-days.repository.js';

/** A stored file that is older than the retention of its hauler, unless a hold keeps it. */
export interface OldRecording {
  readonly hauler_id: string;
  readonly id: string;
  /** Of a clip. */
  readonly part_id: string | null;
  readonly size_bytes: string;
  /** As PostgreSQL reads it, in microseconds. */
  readonly start: string;
  /** The retention that applies to it; null: for ever. */
  readonly days: number | null;
  readonly is_due: boolean;
}

export interface RetentionRow {
  readonly hauler_id: string;
  readonly on_demand_days: number | null;
  readonly continuous_days: number | null;
  readonly is_default: boolean;
  readonly changed_at: Date | null;
  readonly changed_by: string | null;
}

/**
 * For how long each hauler keeps its video. Where nobody has set it, it is the longest default since the hauler was created:
 * a variable that is changed never shortens what a hauler has. Before a default is known, everything is kept.
 */
export const RETENTION = `(
  SELECT hauler.id AS hauler_id, own.hauler_id IS NULL AS is_default, own.changed_at, own.changed_by,
    CASE WHEN own.hauler_id IS NULL THEN longest.days ELSE own.on_demand_days END AS on_demand_days,
    CASE WHEN own.hauler_id IS NULL THEN longest.days ELSE own.continuous_days END AS continuous_days
  FROM haulers AS hauler LEFT JOIN hauler_retention AS own ON own.hauler_id = hauler.id, LATERAL (
    SELECT CASE WHEN bool_and(days IS NOT NULL) THEN max(days) END AS days FROM retention_defaults
    WHERE ended_at IS NULL OR ended_at > hauler.created_at) AS longest)`;

/** Of a recording `r`, with the retention `kept` of its hauler. */
export const DAYS_OF = "CASE WHEN r.source = 'on-demand' THEN kept.on_demand_days ELSE kept.continuous_days END";
const IS_OLD = `coalesce(r.stored_at < now() - ${DAYS_OF} * interval '1 day', false)`;

/** Records the default of this instance, if it is another one than before. Null: for ever. */
export async function recordDefault(database: Querying, days: number | null): Promise<void> {
  await database.query(
    `UPDATE retention_defaults SET ended_at = clock_timestamp()
     WHERE ended_at IS NULL AND days IS DISTINCT FROM $1::integer`,
    [days],
  );
  await database.query(
    'INSERT INTO retention_defaults (since, days) VALUES (clock_timestamp(), $1) ON CONFLICT DO NOTHING',
    [days],
  );
}

/** The shortest retention of any hauler in days; null if all keep everything. */
export async function shortestRetention(database: Querying): Promise<number | null> {
  const [row] = await database.query<[{ days: number | null }]>(
    `SELECT least(min(on_demand_days), min(continuous_days)) AS days FROM ${RETENTION} AS kept`,
    [],
  );
  return row.days;
}

export async function retentionOf(database: Querying, haulerId: string): Promise<RetentionRow | undefined> {
  const [row] = await database.query<RetentionRow[]>(`SELECT * FROM ${RETENTION} AS kept WHERE hauler_id = $1`, [
    haulerId,
  ]);
  return row;
}

type Days = Pick<HaulerRetention, 'onDemandDays' | 'continuousDays'>;

export async function storeRetention(database: Querying, haulerId: string, days: Days, by: string): Promise<void> {
  await database.query(
    `INSERT INTO hauler_retention (hauler_id, on_demand_days, continuous_days, changed_by) VALUES ($1, $2, $3, $4)
     ON CONFLICT (hauler_id) DO UPDATE SET on_demand_days = $2, continuous_days = $3, changed_by = $4, changed_at = now()`,
    [haulerId, days.onDemandDays, days.continuousDays, by],
  );
}

/**
 * Files stored before a time. They began before it too, so that the index of states leaves out all newer ones. The few that were stored
 * before they began, because a clock was wrong, have an index of their own.
 */
const OLD = ['start_time < $1', 'start_time >= $1 AND stored_at < start_time'].map(
  (starts) => `SELECT * FROM recordings WHERE status = 'stored' AND stored_at < $1 AND ${starts}`,
);

/** At most `limit` of them after those up to `last`, in the order of their start. Each statement reads so many, however many are kept. */
export function findStoredBefore(
  database: Querying,
  before: Date,
  last: OldRecording | undefined,
  limit: number,
): Promise<OldRecording[]> {
  return database.query(
    `SELECT r.hauler_id, r.id, r.part_id, r.size_bytes, r.start_time::text AS start, ${DAYS_OF} AS days,
       ${IS_OLD} AND NOT ${isHeld('r')} AS is_due
     FROM (${OLD.map(
       (old) => `(${old} AND ($2::timestamptz IS NULL OR (start_time, id) > ($2::timestamptz, $3::uuid))
         ORDER BY start_time, id LIMIT $4)`,
     ).join(' UNION ALL ')}
       ORDER BY start_time, id LIMIT $4) AS r
     LEFT JOIN ${RETENTION} AS kept ON kept.hauler_id = r.hauler_id
     ORDER BY r.start_time, r.id`,
    [before, last?.start, last?.id, limit],
  );
}

export async function countStoredBefore(
  database: Querying,
  before: Date,
): Promise<{ readonly recordings: number; readonly bytes: number }> {
  const [row] = await database.query<[{ recordings: number; bytes: string }]>(
    `SELECT count(*)::int AS recordings, coalesce(sum(size_bytes), 0) AS bytes
     FROM (${OLD.join(' UNION ALL ')}) AS r JOIN ${RETENTION} AS kept ON kept.hauler_id = r.hauler_id
     WHERE ${IS_OLD} AND NOT ${isHeld('r')}`,
    [before],
  );
  return { recordings: row.recordings, bytes: Number(row.bytes) };
}

/** Rows by their keys. The first and the last start leave out the partitions of other months. */
const keysOf = (rows: readonly OldRecording[]): unknown[] => [
  rows.map(({ hauler_id }) => hauler_id),
  rows.map(({ id }) => id),
  rows.map(({ start }) => start),
  ...[rows[0]?.start, rows.at(-1)?.start],
];
const BY_KEYS = `r.hauler_id = old.hauler_id AND r.id = old.id AND r.start_time = old.start AND r.start_time BETWEEN $4 AND $5`;

/**
 * The one question "may these be removed?": those of `rows`, which are in the order of their start, that no hold keeps, whose
 * retention has not become longer, and that no other process has marked. They stay so until the end of the transaction. The caller
 * has locked removals.
 */
export async function lockRemovable(database: Querying, rows: readonly OldRecording[]): Promise<OldRecording[]> {
  const found = await database.query<{ id: string }[]>(
    `SELECT r.id FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) AS old (hauler_id, id, start)
       JOIN recordings AS r ON ${BY_KEYS} JOIN ${RETENTION} AS kept ON kept.hauler_id = r.hauler_id
     WHERE r.status = 'stored' AND ${IS_OLD} AND NOT ${isHeld('r')} ORDER BY r.start_time, r.id FOR UPDATE OF r`,
    keysOf(rows),
  );
  const ids = new Set(found.map(({ id }) => id));
  return rows.filter(({ id }) => ids.has(id));
}

/** The row of a deleted file stays, with the reason. The caller has locked it. */
export async function markDeleted(
  database: Querying,
  rows: readonly OldRecording[],
  reasonOf: (row: OldRecording) => string,
): Promise<void> {
  if (rows.length === 0) return;
  const [marked] = await database.query<[RecordedTime[], number]>(
    `UPDATE recordings AS r SET status = 'expired', reason = old.reason, deleted_at = now(), updated_at = now()
     FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $6::text[]) AS old (hauler_id, id, start, reason) WHERE ${BY_KEYS}
     RETURNING r.hauler_id, r.connection_id, r.truck_id, r.camera_id, r.start_time, r.end_time`,
    [...keysOf(rows), rows.map(reasonOf)],
  );
  await forgetDays(database, marked);
}

export interface DeletableRow {
  readonly recordings: number;
  readonly bytes: string;
  readonly held: number;
  readonly oldest: Date | null;
  readonly newest: Date | null;
  readonly is_total: boolean;
  readonly connection_id: string | null;
  readonly truck_id: string | null;
}

/** What a retention of a hauler would delete now: the sum, and at most `limit` trucks. Null days: for ever. */
export function deletableBy(
  database: Querying,
  haulerId: string,
  { onDemandDays, continuousDays }: Days,
  limit: number,
): Promise<DeletableRow[]> {
  return database.query(
    `WITH old AS (
       SELECT connection_id, truck_id, start_time, size_bytes, ${isHeld('r')} AS is_held FROM recordings AS r
       WHERE hauler_id = $1 AND status = 'stored'
         AND stored_at < now() - CASE WHEN source = 'on-demand' THEN $2::integer ELSE $3::integer END * interval '1 day')
     SELECT (count(*) FILTER (WHERE NOT is_held))::float8 AS recordings,
       coalesce(sum(size_bytes) FILTER (WHERE NOT is_held), 0)::text AS bytes,
       (count(*) FILTER (WHERE is_held))::float8 AS held,
       min(start_time) FILTER (WHERE NOT is_held) AS oldest, max(start_time) FILTER (WHERE NOT is_held) AS newest,
       grouping(truck_id) = 1 AS is_total, connection_id, truck_id
     FROM old GROUP BY GROUPING SETS ((connection_id, truck_id), ())
     ORDER BY is_total DESC, recordings DESC, truck_id, connection_id LIMIT $4::integer + 1`,
    [haulerId, onDemandDays, continuousDays, limit],
  );
}
