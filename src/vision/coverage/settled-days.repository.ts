import type { Sql } from '../../core/database/sql.js';
import type { TruckRow } from '../truck.js';
import { camerasJson, type TruckCamera } from './coverage.repository.js';
import { footageSeconds } from './footage-seconds.repository.js';

const HOUR_MS = 3_600_000;
const HOURS = 24;

/** The milliseconds of a camera on a settled day that are within a bucket. */
export interface SettledRow {
  readonly place: number;
  /** Its start (UTC), in milliseconds since the epoch. */
  readonly day: number;
  /** Counted from 0. */
  readonly bucket: number;
  readonly stored: number;
  readonly expired: number;
  readonly failed: number;
}

/**
 * The settled days of cameras. A day with recordings under several names of a camera is none of them: these may share time. `edges`: the
 * borders of the buckets, which are whole hours. `OFFSET 0`: the whole key is known before a row is looked for. Else PostgreSQL skips through
 * all cameras of a truck for each of them.
 */
export function settledDays(
  database: Sql,
  cameras: readonly TruckCamera[],
  edges: readonly number[],
): Promise<SettledRow[]> {
  const times = edges.map((edge) => new Date(edge).toISOString());
  return database.query<SettledRow>(
    `SELECT place, extract(epoch FROM day)::float8 * 1000 AS day, bucket - 1 AS bucket,
       stored[until] - stored[since] AS stored, coalesce(expired[until] - expired[since], 0) AS expired,
       coalesce(failed[until] - failed[since], 0) AS failed
     FROM (
       SELECT place, day::timestamp AT TIME ZONE 'UTC' AS day, max(stored) AS stored, max(expired) AS expired, max(failed) AS failed
       FROM json_to_recordset($1::json) AS asked (place integer, connection uuid, truck text, names text[])
         JOIN connections ON connections.id = connection, unnest(names) AS name, LATERAL (
         SELECT day, stored, expired, failed FROM coverage_days AS d
         WHERE (d.hauler_id, d.connection_id, d.truck_id, d.camera_id) = (connections.hauler_id, connection, truck, name)
           AND d.day BETWEEN $2 AND $3 OFFSET 0) AS days
       GROUP BY place, days.day HAVING count(*) = 1 AND count(stored) = 1) AS settled,
       generate_series(greatest(width_bucket(day, $4::timestamptz[]), 1),
         least(width_bucket(day + interval '24 hours' - interval '1 microsecond', $4::timestamptz[]), $5::integer)) AS bucket,
       LATERAL (SELECT
         1 + extract(epoch FROM greatest(($4::timestamptz[])[bucket], day) - day)::integer / 3600 AS since,
         1 + extract(epoch FROM least(($4::timestamptz[])[bucket + 1], day + interval '24 hours') - day)::integer / 3600 AS until
       ) AS hours`,
    [
      camerasJson(cameras),
      times[0]?.slice(0, 10),
      new Date((edges.at(-1) ?? 0) - 1).toISOString().slice(0, 10),
      times,
      edges.length - 1,
    ],
  );
}

/** A row of `coverage_days`, without its day. */
export interface DayKey extends TruckRow {
  readonly camera_id: string;
}

/** The days before a day that are not settled, the latest first. */
export async function unsettledDays(database: Sql, before: string): Promise<string[]> {
  const rows = await database.query<{ day: string }>(
    'SELECT DISTINCT day::text AS day FROM coverage_days WHERE stored IS NULL AND day < $1 ORDER BY day DESC',
    [before],
  );
  return rows.map(({ day }) => day);
}

/**
 * Settles a day of up to `limit` cameras after `last`; returns the last of them, undefined after all. Their rows are locked before their
 * recordings are read: see `forgetDays`. A row whose camera has no recording any more is deleted; one with a recording that still waits for
 * its file stays as it is.
 */
export async function settleDay(
  transaction: Sql,
  day: string,
  last: DayKey | undefined,
  limit: number,
): Promise<DayKey | undefined> {
  const rows = await transaction.query<DayKey>(
    `SELECT hauler_id, connection_id, truck_id, camera_id FROM coverage_days
     WHERE stored IS NULL AND day = $1
       AND ($2::uuid IS NULL OR (hauler_id, connection_id, truck_id, camera_id) > ($2::uuid, $3::uuid, $4::text, $5::text))
     ORDER BY hauler_id, connection_id, truck_id, camera_id LIMIT $6 FOR UPDATE SKIP LOCKED`,
    [day, last?.hauler_id, last?.connection_id, last?.truck_id, last?.camera_id, limit],
  );
  if (rows.length === 0) return undefined;
  const from = Date.parse(day);
  const edges = Array.from({ length: HOURS + 1 }, (_, hour) => from + hour * HOUR_MS);
  const times = rows.map(({ connection_id: connectionId, truck_id: truckId, camera_id: name }, place) => {
    return { place, connectionId, truckId, names: [name], from, to: from + HOURS * HOUR_MS };
  });
  const found = Map.groupBy(await footageSeconds(transaction, times, [], edges), ({ place }) => place);
  const settled = rows.flatMap((row, place) => {
    const own = found.get(place) ?? [];
    if (own.some(({ state }) => state === 'available')) return [];
    const untilHour = (state: string) =>
      edges.map((_, hour) => {
        const earlier = own.filter((each) => each.state === state && each.bucket < hour);
        return Math.round(earlier.reduce((sum, { seconds }) => sum + seconds, 0) * 1000);
      });
    const other = (state: string) => (own.some((each) => each.state === state) ? untilHour(state) : null);
    const isEmpty = own.length === 0;
    return [
      { ...row, is_empty: isEmpty, stored: untilHour('stored'), expired: other('expired'), failed: other('failed') },
    ];
  });
  await transaction.query(
    `WITH settled AS (
       SELECT * FROM json_to_recordset($1::json) AS s (hauler_id uuid, connection_id uuid, truck_id text, camera_id text,
         is_empty boolean, stored integer[], expired integer[], failed integer[])),
     gone AS (
       DELETE FROM coverage_days AS d USING settled AS s WHERE s.is_empty AND d.day = $2
         AND (d.hauler_id, d.connection_id, d.truck_id, d.camera_id) = (s.hauler_id, s.connection_id, s.truck_id, s.camera_id))
     UPDATE coverage_days AS d SET stored = s.stored, expired = s.expired, failed = s.failed
     FROM settled AS s WHERE NOT s.is_empty AND d.day = $2
       AND (d.hauler_id, d.connection_id, d.truck_id, d.camera_id) = (s.hauler_id, s.connection_id, s.truck_id, s.camera_id)`,
    [JSON.stringify(settled), day],
  );
  return rows.length < limit ? undefined : rows.at(-1);
}
