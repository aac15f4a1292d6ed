import type { Sql } from '../../core/database/sql.js';
import type { TruckRow } from '../truck.js';

/** Recordings of a truck that ended without a file. */
export interface LostRow extends TruckRow {
  readonly count: number;
  readonly status: 'failed' | 'expired';
  /** How many of each reason code. */
  readonly reasons: Readonly<Record<string, number>>;
  readonly since: Date;
  readonly last_at: Date;
}

/** Times of a truck whose lists could not be read. */
export interface UnreadRow extends TruckRow {
  readonly count: number;
  readonly seconds: number;
  /** Windows that are not tried again by themselves. */
  readonly given_up: number;
  /** The id of the first, which contains its time. */
  readonly first_id: string;
  readonly start_time: Date;
  readonly end_time: Date;
}

/** Clip requests of a truck that failed or expired. */
export interface LostClipsRow extends TruckRow {
  readonly count: number;
  /** Of the clip that ended last, as its range. */
  readonly reason: string | null;
  readonly start_time: Date;
  readonly end_time: Date;
  readonly since: Date;
  readonly last_at: Date;
}

/** Of a deleted connection nothing can be fetched again, so that nobody can do anything about it. */
export const OF_CONNECTION =
  '(hauler_id, connection_id) IN (SELECT hauler_id, id FROM connections WHERE deleted_at IS NULL)';

/** A download that waits, and has failed so far or whose link expires within an hour. */
export const IS_AT_RISK = `status = 'available'
         AND (last_error IS NOT NULL OR link IS NOT NULL AND expires_at < now() + interval '1 hour')`;

/** Without the recordings that retention deleted. */
export function lostFootage(database: Sql): Promise<LostRow[]> {
  return database.query<LostRow>(
    `SELECT hauler_id, connection_id, truck_id, status, sum(count)::float8 AS count, min(since) AS since, max(last_at) AS last_at,
       jsonb_object_agg(coalesce(reason_code, 'unknown'), count) AS reasons
     FROM (
       SELECT hauler_id, connection_id, truck_id, status, reason_code, count(*) AS count, min(updated_at) AS since,
         max(updated_at) AS last_at
       FROM recordings WHERE status IN ('failed', 'expired') AND deleted_at IS NULL AND ${OF_CONNECTION}
       GROUP BY hauler_id, connection_id, truck_id, status, reason_code) AS by_reason
     GROUP BY hauler_id, connection_id, truck_id, status`,
  );
}

export function unreadWindows(database: Sql): Promise<UnreadRow[]> {
  return database.query<UnreadRow>(
    `SELECT w.hauler_id, w.connection_id, s.truck_id, count(*)::float8 AS count,
       extract(epoch FROM sum(w.end_time - w.start_time))::float8 AS seconds,
       (count(*) FILTER (WHERE w.due_at IS NULL AND w.started_at IS NULL))::float8 AS given_up,
       min(w.id::text) AS first_id, min(w.start_time) AS start_time, max(w.end_time) AS end_time
     FROM video_windows AS w JOIN video_subscriptions AS s ON (s.hauler_id, s.id) = (w.hauler_id, w.subscription_id)
       JOIN connections AS c ON (c.hauler_id, c.id) = (w.hauler_id, w.connection_id)
     WHERE s.deleted_at IS NULL AND c.deleted_at IS NULL
       AND (w.reread_day IS NULL OR w.last_error IS NOT NULL OR w.due_at IS NULL AND w.started_at IS NULL)
     GROUP BY w.hauler_id, w.connection_id, s.truck_id`,
  );
}

/** Without the clips that retention deleted. */
export function lostClips(database: Sql): Promise<LostClipsRow[]> {
  return database.query<LostClipsRow>(
    `SELECT hauler_id, connection_id, truck_id, count(*)::float8 AS count, min(updated_at) AS since,
       max(updated_at) AS last_at, (array_agg(reason ORDER BY updated_at DESC, id DESC))[1] AS reason,
       (array_agg(start_time ORDER BY updated_at DESC, id DESC))[1] AS start_time,
       (array_agg(end_time ORDER BY updated_at DESC, id DESC))[1] AS end_time
     FROM video_requests AS request
     WHERE status IN ('failed', 'expired') AND ${OF_CONNECTION} AND NOT EXISTS (
       SELECT FROM video_request_parts AS part
       WHERE part.hauler_id = request.hauler_id AND part.request_id = request.id AND part.file_removed_at IS NOT NULL)
     GROUP BY hauler_id, connection_id, truck_id`,
  );
}
