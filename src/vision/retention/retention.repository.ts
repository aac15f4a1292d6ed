import type { HaulerRetention } from '../../contracts/admin/retention.routes.js';
import type { Sql } from '../../core/database/sql.js';
import { IS_HELD } from '../holds/held.sql.js';
import { forgetDays, RECORDED_TIME, type RecordedTime } from '../recordings/coverage-days.repository.js';

/** What is needed beside the answer, which has all columns of `retentionOf`. */
export interface RetentionRow {
  /** Null where nobody has set it. */
  readonly changed_at: Date | null;
}

/** Of each hauler the sources of recordings that it does not keep for ever, with the days after which their files are deleted. */
export const KEPT = `(SELECT hauler_id, of_source.* FROM hauler_retention,
  LATERAL (VALUES ('on-demand', on_demand_days), ('continuous', continuous_days)) AS of_source (source, days) WHERE days IS NOT NULL)`;

/** The recording `r` has a file that was stored longer ago than `kept` says, as `recordings_kept_idx` finds it. */
const IS_OLD = `(r.hauler_id, r.source) = (kept.hauler_id, kept.source) AND r.status = 'stored'
  AND r.stored_at < now() - kept.days * interval '1 day'`;

export async function retentionOf(database: Sql, haulerId: string): Promise<RetentionRow | undefined> {
  return database.first<RetentionRow>(
    `SELECT hauler.id AS hauler_id, on_demand_days, continuous_days, changed_at, changed_by
     FROM haulers AS hauler LEFT JOIN hauler_retention AS kept ON kept.hauler_id = hauler.id WHERE hauler.id = $1`,
    [haulerId],
  );
}

type Days = Pick<HaulerRetention, 'onDemandDays' | 'continuousDays'>;

export async function storeRetention(database: Sql, haulerId: string, days: Days, by: string): Promise<void> {
  await database.query(
    `INSERT INTO hauler_retention (hauler_id, on_demand_days, continuous_days, changed_by, changed_at) VALUES ($1, $2, $3, $4, now())
     ON CONFLICT (hauler_id) DO UPDATE SET on_demand_days = $2, continuous_days = $3, changed_by = $4, changed_at = now()`,
    [haulerId, days.onDemandDays, days.continuousDays, by],
  );
}

/** The shortest retention of any hauler in days; null if all keep everything. */
export async function shortestRetention(database: Sql): Promise<number | null> {
  const row = await database.only<{ days: number | null }>(`SELECT min(days) AS days FROM ${KEPT} AS kept`, []);
  return row.days;
}

export interface OldSource {
  readonly hauler_id: string;
  readonly source: string;
  readonly days: number;
}

/** The sources with files that are due. Each is asked by its own index scan (LATERAL with LIMIT), so that what others keep is not read. */
export function findOldSources(database: Sql): Promise<OldSource[]> {
  return database.query<OldSource>(
    `SELECT kept.hauler_id, kept.source, kept.days FROM ${KEPT} AS kept,
       LATERAL (SELECT FROM recordings AS r WHERE ${IS_OLD} ORDER BY r.stored_at LIMIT 1) AS due`,
    [],
  );
}

/** A stored file that is older than the retention of its source. */
export interface OldFile {
  readonly id: string;
  readonly start_time: Date;
  /** As PostgreSQL reads it, in microseconds. */
  readonly stored_at: string;
  readonly is_held: boolean;
}

/** At most `limit` after those up to `last`, the oldest first. Each statement reads so many, however many a hold keeps. */
export function findOld(
  database: Sql,
  { hauler_id, source, days }: OldSource,
  last: OldFile | undefined,
  limit: number,
): Promise<OldFile[]> {
  return database.query<OldFile>(
    `SELECT r.id, r.start_time, r.stored_at::text, ${IS_HELD} AS is_held FROM (
       SELECT * FROM recordings
       WHERE hauler_id = $1 AND source = $2 AND status = 'stored' AND stored_at < now() - $3 * interval '1 day'
         AND ($4::timestamptz IS NULL OR (stored_at, id) > ($4::timestamptz, $5::uuid))
       ORDER BY stored_at, id LIMIT $6) AS r
     ORDER BY r.stored_at, r.id`,
    [hauler_id, source, days, last?.stored_at ?? null, last?.id ?? null, limit],
  );
}

export async function countOld(database: Sql): Promise<{ readonly recordings: number; readonly bytes: number }> {
  const row = await database.only<{ recordings: number; bytes: string }>(
    `SELECT coalesce(sum(recordings), 0)::int AS recordings, coalesce(sum(bytes), 0) AS bytes FROM ${KEPT} AS kept, LATERAL (
       SELECT count(*) AS recordings, sum(r.size_bytes) AS bytes FROM recordings AS r WHERE ${IS_OLD} AND NOT ${IS_HELD}) AS due`,
    [],
  );
  return { recordings: row.recordings, bytes: Number(row.bytes) };
}

export interface ExpiredRow extends RecordedTime {
  readonly id: string;
  /** Of a clip. */
  readonly part_id: string | null;
  readonly size_bytes: string;
  readonly reason: string;
}

/**
 * Expires those of a hauler's files that no hold keeps, whose retention has not become longer, and that no other process is expiring.
 * The rows stay, with the reason. The caller has locked removals. `months`: those of the recordings, as bounds of partitions.
 */
export async function expireOld(
  database: Sql,
  haulerId: string,
  ids: readonly string[],
  months: readonly [Date, Date],
): Promise<ExpiredRow[]> {
  const expired = await database.query<ExpiredRow>(
    `WITH old AS (
       SELECT r.id, r.start_time, kept.days FROM ${KEPT} AS kept JOIN recordings AS r ON ${IS_OLD}
       WHERE kept.hauler_id = $1 AND r.hauler_id = $1 AND r.id = ANY ($2::uuid[]) AND r.start_time >= $3 AND r.start_time < $4
         AND NOT ${IS_HELD}
       ORDER BY r.id FOR UPDATE OF r SKIP LOCKED)
     UPDATE recordings AS r SET status = 'expired', deleted_at = now(), updated_at = now(), reason = 'The file was deleted '
       || old.days || ' days after it was stored, by the retention of its hauler. Request a clip of this range to get it again.'
     FROM old WHERE r.hauler_id = $1 AND r.id = old.id AND r.start_time = old.start_time AND r.start_time >= $3 AND r.start_time < $4
     RETURNING ${RECORDED_TIME}, r.id, r.part_id, r.size_bytes, r.reason`,
    [haulerId, ids, ...months],
  );
  await forgetDays(database, expired);
  return expired;
}

/** What a retention of a hauler would delete now: the sum, and at most `limit` trucks. Null days: for ever. */
export function deletableBy(
  database: Sql,
  haulerId: string,
  { onDemandDays, continuousDays }: Days,
  limit: number,
): Promise<object[]> {
  return database.query<object>(
    `WITH old AS (
       SELECT connection_id, truck_id, start_time, size_bytes, ${IS_HELD} AS is_held FROM recordings AS r
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
