/** Recordings `r` of a truck of `trucks`. */
const OF_TRUCK = `(r.hauler_id, r.connection_id, r.truck_id)
  = (connections.hauler_id, trucks.connection_id, trucks.truck_id)`;

/** Whole partitions, so that a step from one name to the next never reads rows of another time. */
const CAMERA_MONTHS = 'r.start_time >= $5 AND r.start_time < $6';

const DAYS_OF_TRUCK = `coverage_days d WHERE (d.hauler_id, d.connection_id, d.truck_id)
  = (connections.hauler_id, trucks.connection_id, trucks.truck_id)`;

/** Whether the sums have footage of a camera on a day from `$first` until before `$end`. They are in one table, not in one for each month. */
const onDays = (camera: string, first: number, end: number): string => `(SELECT true FROM ${DAYS_OF_TRUCK}
  AND d.camera_id = ${camera} AND d.day >= $${first} AND d.day < $${end} AND 0 < ANY(d.milliseconds) LIMIT 1)`;

/** The names of the cameras of a truck, from each to the next by an index. */
const stepsOf = (camera: string, rows: string): string => `(
  WITH RECURSIVE known (camera_id) AS (
    SELECT min(${camera}) FROM ${rows}
    UNION ALL
    SELECT (SELECT min(${camera}) FROM ${rows} AND ${camera} > known.camera_id) FROM known WHERE camera_id IS NOT NULL)
  SELECT camera_id FROM known)`;

const HAS_RECORDED = `(SELECT true FROM recordings r
  WHERE ${OF_TRUCK} AND ${CAMERA_MONTHS} AND r.camera_id = cameras.camera_id
    AND r.start_time > $3::timestamptz - interval '31 days' AND r.start_time < $4 LIMIT 1)`;

/** Whether a camera has a recording from $3 until before $4: by the sums of whole days, from $8 until before $9, then by the recordings. */
const isPresent = (camera: string): string => `coalesce(${onDays(camera, 8, 9)}, (SELECT true FROM recordings r
    WHERE ${OF_TRUCK} AND ${CAMERA_MONTHS} AND r.part_id IS NULL AND r.camera_id = ${camera}
      AND r.start_time > $3::timestamptz - interval '1 day' AND r.start_time < $4 AND r.end_time > $3 LIMIT 1),
    (SELECT true FROM recordings r
    WHERE ${OF_TRUCK} AND ${CAMERA_MONTHS} AND r.part_id IS NOT NULL AND r.camera_id = ${camera}
      AND r.start_time > $3::timestamptz - interval '31 days' AND r.start_time < $4 AND r.end_time > $3 LIMIT 1),
    false)`;

/**
 * The cameras of a truck that have a recording that starts from 31 days before $3 until before $4, or that a clip or a subscription names,
 * and whether they have one since $3. Whole days, from $7 on, are asked of the sums, the rest of the recordings, and so are trucks without
 * any sums. A camera that is present is asked for no more: `OFFSET 0`, without which PostgreSQL asks twice.
 */
export const TRUCK_CAMERAS = `
  WITH summed AS MATERIALIZED (
    SELECT camera_id AS name, is_present
    FROM (SELECT camera_id FROM ${stepsOf('d.camera_id', DAYS_OF_TRUCK)} AS steps WHERE camera_id IS NOT NULL OFFSET 0) AS cameras,
      LATERAL (SELECT ${isPresent('cameras.camera_id')} AS is_present OFFSET 0) AS recorded
    WHERE is_present OR coalesce(${onDays('cameras.camera_id', 7, 8)}, ${HAS_RECORDED})),
  others AS (
    SELECT camera_id AS name FROM ${stepsOf('r.camera_id', `recordings r WHERE ${OF_TRUCK} AND ${CAMERA_MONTHS}`)} AS cameras
    WHERE (SELECT true FROM ${DAYS_OF_TRUCK} LIMIT 1) IS NULL AND ${HAS_RECORDED}
    UNION
    SELECT q.camera_id FROM video_requests q
    WHERE (q.connection_id, q.truck_id) = (trucks.connection_id, trucks.truck_id)
      AND q.status IN ('failed', 'expired') AND q.start_time < $4 AND q.end_time > $3
    UNION
    SELECT camera_id FROM video_subscriptions s
    WHERE (s.connection_id, s.truck_id) = (trucks.connection_id, trucks.truck_id)
      AND s.deleted_at IS NULL AND s.camera_id IS NOT NULL
    EXCEPT
    SELECT name FROM summed)
  SELECT name, is_present FROM summed
  UNION ALL
  SELECT name, ${isPresent('others.name')} FROM others`;
