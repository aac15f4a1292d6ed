import { MAX_MISSING } from '../../contracts/admin/holds.routes.js';
import type { Sql } from '../../core/database/sql.js';
import type { TruckRow } from '../truck.js';
import { cameraSql } from '../camera.sql.js';
import { isWithin } from './held.sql.js';
import type { HoldRow } from './holds.repository.js';

/** What a hold holds at this moment. */
export interface HeldCounts {
  readonly stored: number;
  readonly bytes: string;
  readonly waiting: number;
}

/** Longer recordings than this do not exist; the bound lets an index find the first one of a range. */
const LONGEST = "interval '31 days'";

/** The recordings of the hold $2 of the hauler $1. */
const HELD = `
  SELECT r.hauler_id, r.connection_id, r.truck_id, r.camera_id, r.status, r.size_bytes, r.deleted_at,
    tstzrange(greatest(r.start_time, hold.start_time), least(r.end_time, hold.end_time)) AS range
  FROM holds AS hold JOIN recordings AS r ON ${isWithin('r', 'hold')} AND r.start_time > hold.start_time - ${LONGEST}
  WHERE hold.hauler_id = $1 AND hold.id = $2`;

/** The ranges of the hold that a confirmed erasure has closed, with the camera of the erasure. */
const ERASED = `
  SELECT erasure.hauler_id, erasure.connection_id, erasure.truck_id, erasure.camera_id,
    tstzrange(erasure.start_time, erasure.end_time) AS range
  FROM holds AS hold JOIN erasures AS erasure USING (hauler_id, connection_id, truck_id)
  WHERE hold.hauler_id = $1 AND hold.id = $2 AND erasure.status IN ('running', 'done')
    AND erasure.start_time < hold.end_time AND erasure.end_time > hold.start_time`;

/**
 * The time $3 before which rows are deleted (`VIDEO_ROWS_DAYS`; null: never), of a hauler that does not keep everything for ever: what
 * there was is no longer known.
 */
const REMOVED = `
  SELECT CASE WHEN $3::timestamptz IS NOT NULL AND EXISTS (SELECT FROM hauler_retention
      WHERE hauler_id = $1 AND num_nonnulls(on_demand_days, continuous_days) > 0)
    THEN tstzmultirange(tstzrange(NULL, $3)) ELSE '{}' END AS removed`;

type Key = Pick<HoldRow, 'hauler_id' | 'id'>;

export async function countHeld(database: Sql, { hauler_id, id }: Key): Promise<HeldCounts> {
  return database.only<HeldCounts>(
    `SELECT (count(*) FILTER (WHERE status = 'stored'))::float8 AS stored,
       coalesce(sum(size_bytes) FILTER (WHERE status = 'stored'), 0)::text AS bytes,
       (count(*) FILTER (WHERE status = 'available'))::float8 AS waiting
     FROM (${HELD}) AS held`,
    [hauler_id, id],
  );
}

/**
 * The time of a hold up to now of which nothing is held, by camera: of a camera with several names by the first of them.
 * Where recordings overlap, one that is held counts.
 */
export function findMissing(database: Sql, { hauler_id, id }: Key, rowsBefore: Date | undefined): Promise<object[]> {
  return database.query<object>(
    `WITH footage AS MATERIALIZED (${HELD}),
     named AS (SELECT DISTINCT hauler_id, connection_id, truck_id, camera_id FROM footage),
     own_cameras AS (
       SELECT camera_id, min(camera_id) OVER (PARTITION BY ${cameraSql('named')}) AS name FROM named),
     sums AS (
       SELECT name,
         coalesce(range_agg(range) FILTER (WHERE status IN ('stored', 'available')), '{}') AS held,
         coalesce(range_agg(range) FILTER (WHERE deleted_at IS NOT NULL), '{}') AS deleted,
         coalesce(range_agg(range) FILTER (WHERE status IN ('failed', 'expired') AND deleted_at IS NULL), '{}') AS lost
       FROM footage JOIN own_cameras USING (camera_id) GROUP BY name
       UNION ALL
       SELECT (SELECT camera_id FROM holds WHERE hauler_id = $1 AND id = $2), '{}', '{}', '{}'
       WHERE NOT EXISTS (SELECT FROM footage)),
     past AS (
       SELECT CASE WHEN start_time < now() THEN tstzmultirange(tstzrange(start_time, least(end_time, now()))) ELSE '{}' END AS range
       FROM holds WHERE hauler_id = $1 AND id = $2),
     erasures_of AS (
       SELECT sums.name, coalesce((SELECT range_agg(erased.range) FROM (${ERASED}) AS erased
         WHERE erased.camera_id IS NULL OR ${cameraSql('erased')} = ${cameraSql('seen')}), '{}') AS erased
       FROM sums JOIN LATERAL (
         SELECT hauler_id, connection_id, truck_id, sums.name AS camera_id FROM holds WHERE hauler_id = $1 AND id = $2
       ) AS seen ON true),
     removed_of AS (${REMOVED}),
     rest AS (
       SELECT sums.name, erased, removed, past.range - held - deleted - lost AS unknown
       FROM sums JOIN erasures_of ON erasures_of.name IS NOT DISTINCT FROM sums.name, past, removed_of),
     pieces AS (
       SELECT name, 'deleted' AS cause, unnest(deleted * past.range - held) AS piece FROM sums, past
       UNION ALL SELECT name, 'lost', unnest(lost * past.range - held - deleted) FROM sums, past
       UNION ALL SELECT name, 'erased', unnest(unknown * erased) FROM rest
       UNION ALL SELECT name, 'monthRemoved', unnest(unknown * removed - erased) FROM rest
       UNION ALL SELECT name, 'notListed', unnest(unknown - erased - removed) FROM rest)
     SELECT name AS camera_id, lower(piece) AS "from", upper(piece) AS "to", cause
     FROM pieces ORDER BY lower(piece), name LIMIT ${MAX_MISSING}`,
    [hauler_id, id, rowsBefore ?? null],
  );
}

/** Held recordings of a truck that have no file yet, and may get none. */
export interface HeldRiskRow extends TruckRow {
  readonly count: number;
  /** Of these, the download has ended without a file. */
  readonly lost: number;
  readonly cases: readonly string[];
  readonly since: Date;
  /** When the first link expires. */
  readonly deadline: Date | null;
}

/** By truck: downloads that failed so far, whose link expires within a day, or that ended without a file. */
export function findHeldAtRisk(database: Sql): Promise<HeldRiskRow[]> {
  return database.query<HeldRiskRow>(
    `SELECT r.hauler_id, r.connection_id, r.truck_id, count(DISTINCT r.id)::float8 AS count,
       (count(DISTINCT r.id) FILTER (WHERE r.status <> 'available'))::float8 AS lost,
       array_agg(DISTINCT hold.case_id) AS cases, min(r.updated_at) AS since,
       min(r.expires_at) FILTER (WHERE r.status = 'available' AND r.link IS NOT NULL) AS deadline
     FROM holds AS hold JOIN recordings AS r ON ${isWithin('r', 'hold')} AND r.start_time > hold.start_time - ${LONGEST}
     WHERE hold.released_at IS NULL AND r.status <> 'stored' AND r.deleted_at IS NULL
       AND (r.status <> 'available' OR r.last_error IS NOT NULL
         OR r.link IS NOT NULL AND r.expires_at < now() + interval '1 day')
     GROUP BY r.hauler_id, r.connection_id, r.truck_id`,
    [],
  );
}
