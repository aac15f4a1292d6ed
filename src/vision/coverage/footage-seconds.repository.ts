import { formatInstant } from '../../contracts/common/instant.js';
import type { Sql } from '../../core/database/sql.js';
import type { TruckCamera } from './coverage.repository.js';
import type { FootageState } from './coverage.rules.js';

/** A time of a camera whose recordings are summed. Milliseconds since the epoch. */
export interface CameraTime extends TruckCamera {
  /** Of the camera in the answer. Times of one camera do not overlap. */
  readonly place: number;
  readonly from: number;
  readonly to: number;
}

/** What is known of a time besides its recordings. Those of one camera do not overlap. */
export interface OtherTime {
  readonly place: number;
  readonly state: FootageState;
  readonly from: number;
  readonly to: number;
}

export interface BucketSeconds {
  readonly place: number;
  /** Counted from 0. */
  readonly bucket: number;
  readonly state: FootageState;
  readonly seconds: number;
}

/** Recordings `r` of a camera `asked`. */
const OF_CAMERA = `(r.hauler_id, r.connection_id, r.truck_id, r.camera_id)
         = (asked.hauler_id, asked.connection, asked.truck, asked.name)`;

/**
 * Of each camera and bucket the seconds of each state, where no better one is; those without any are absent. `edges`: the borders of the
 * buckets. Chunks are read from their index alone; those of more than an hour, and clips, have an index that finds what began long before.
 */
export function footageSeconds(
  database: Sql,
  times: readonly CameraTime[],
  others: readonly OtherTime[],
  edges: readonly number[],
): Promise<BucketSeconds[]> {
  return database.query<BucketSeconds>(
    `WITH asked AS MATERIALIZED (
       SELECT place, connections.hauler_id, connection, truck, name, "from", "to"
       FROM json_to_recordset($1::json)
         AS asked (place integer, connection uuid, truck text, names text[], "from" timestamptz, "to" timestamptz)
         JOIN connections ON connections.id = connection, unnest(names) AS name),
     others AS (
       SELECT place, state, tstzrange("from", "to") AS time
       FROM json_to_recordset($2::json) AS other (place integer, state text, "from" timestamptz, "to" timestamptz)),
     footage AS (
       SELECT place, r.status AS state, tstzrange(greatest(r.start_time, "from"), least(r.end_time, "to")) AS time
       FROM asked, LATERAL (SELECT start_time, end_time, status FROM recordings AS r
         WHERE ${OF_CAMERA} AND r.part_id IS NULL
           AND r.start_time > "from" - interval '1 hour' AND r.start_time < "to" AND r.end_time > "from"
         UNION ALL
         SELECT start_time, end_time, status FROM recordings AS r
         WHERE ${OF_CAMERA} AND r.part_id IS NULL AND r.end_time - r.start_time > interval '1 hour'
           AND r.start_time > "from" - interval '31 days' AND r.start_time <= "from" - interval '1 hour' AND r.end_time > "from") AS r
       UNION ALL
       SELECT place, piece.state, piece.time * tstzrange("from", "to")
       FROM asked, LATERAL (SELECT start_time, end_time, status, gaps FROM recordings AS r
           WHERE ${OF_CAMERA} AND r.part_id IS NOT NULL
             AND r.start_time > "from" - interval '31 days' AND r.start_time < "to" AND r.end_time > "from" OFFSET 0) AS r,
         LATERAL (SELECT coalesce(range_agg(tstzrange("startTime", "endTime")), '{}') AS gaps
           FROM jsonb_to_recordset(r.gaps) AS gap ("startTime" timestamptz, "endTime" timestamptz)) AS missing,
         LATERAL (
           SELECT r.status AS state, unnest(tstzmultirange(tstzrange(r.start_time, r.end_time)) - missing.gaps) AS time
           UNION ALL SELECT 'failed', unnest(missing.gaps)) AS piece
       UNION ALL
       SELECT place, state, time FROM others WHERE state = 'expired'),
     cameras AS (
       SELECT place,
         coalesce(range_agg(time) FILTER (WHERE state = 'stored'), '{}') AS stored,
         coalesce(range_agg(time) FILTER (WHERE state = 'available'), '{}') AS available,
         coalesce(range_agg(time) FILTER (WHERE state = 'expired'), '{}') AS expired,
         coalesce(range_agg(time) FILTER (WHERE state = 'failed'), '{}') AS failed
       FROM footage GROUP BY place),
     states AS (
       SELECT place, 'stored' AS state, stored AS times FROM cameras
       UNION ALL SELECT place, 'available', available - stored FROM cameras
       UNION ALL SELECT place, 'expired', expired - available - stored FROM cameras
       UNION ALL SELECT place, 'failed', failed - expired - available - stored FROM cameras
       UNION ALL
       SELECT place, state, tstzmultirange(time) - coalesce(stored + available + expired + failed, '{}')
       FROM others LEFT JOIN cameras USING (place) WHERE state <> 'expired')
     SELECT place, bucket - 1 AS bucket, state, extract(epoch FROM sum(
       least(upper(piece), ($3::timestamptz[])[bucket + 1]) - greatest(lower(piece), ($3::timestamptz[])[bucket])))::float8 AS seconds
     FROM (
       SELECT place, state, piece, generate_series(width_bucket(lower(piece), $3::timestamptz[]),
         width_bucket(upper(piece) - interval '1 microsecond', $3::timestamptz[])) AS bucket
       FROM (SELECT place, state, unnest(times) AS piece FROM states) AS pieces) AS parts
     GROUP BY place, bucket, state`,
    [
      JSON.stringify(
        times.map(({ connectionId: connection, truckId: truck, place, names, from, to }) => ({
          place,
          connection,
          truck,
          names,
          from: textOf(from),
          to: textOf(to),
        })),
      ),
      JSON.stringify(others.map((each) => ({ ...each, from: textOf(each.from), to: textOf(each.to) }))),
      edges.map(textOf),
    ],
  );
}

const textOf = (time: number): string => formatInstant(new Date(time));
