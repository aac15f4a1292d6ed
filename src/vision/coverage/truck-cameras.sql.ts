/** Recordings `r` of a truck of `trucks`. */
export const OF_TRUCK = `(r.hauler_id, r.connection_id, r.truck_id)
  = (connections.hauler_id, trucks.connection_id, trucks.truck_id)`;

/** Whole partitions, so that a step from one name to the next never reads rows of another time. */
export const CAMERA_MONTHS = 'r.start_time >= $5 AND r.start_time < $6';

const DAYS_OF_TRUCK = `coverage_days d WHERE (d.hauler_id, d.connection_id, d.truck_id)
  = (connections.hauler_id, trucks.connection_id, trucks.truck_id)`;

/** Whether the sums have footage of a camera on a day from `$first` until before `$end`. They are in one table, not in one for each month. */
export const onDays = (camera: string, first: number, end: number): string => `(SELECT true FROM ${DAYS_OF_TRUCK}
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

/**
 * The names of the cameras of a truck with a recording that starts from 31 days before $3 until before $4. Whole days, from $7 until
 * before $9, are asked of the sums, the rest of the recordings, and so are trucks without any sums.
 */
export const CAMERA_NAMES = `
  SELECT camera_id FROM ${stepsOf('d.camera_id', DAYS_OF_TRUCK)} AS cameras
  WHERE coalesce(${onDays('cameras.camera_id', 7, 9)}, ${HAS_RECORDED})
  UNION
  SELECT camera_id FROM ${stepsOf('r.camera_id', `recordings r WHERE ${OF_TRUCK} AND ${CAMERA_MONTHS}`)} AS cameras
  WHERE (SELECT true FROM ${DAYS_OF_TRUCK} LIMIT 1) IS NULL AND ${HAS_RECORDED}`;
