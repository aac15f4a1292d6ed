import type { Querying } from '../../database/sql.js';

const KEY = 'hauler_id, connection_id, truck_id, camera_id';
const ZEROS = 'array_fill(0::bigint, ARRAY[96])';

const COLUMNS = `${KEY}, start_time, end_time, status, part_id`;

/** The recordings of the day `$1` (UTC): those of up to an hour by the index of states, all others by the one that only they have. */
const FOOTAGE = `
  SELECT ${COLUMNS} FROM recordings
  WHERE status IN ('stored', 'available', 'expired', 'failed') AND end_time > $1::timestamptz
    AND start_time > $1::timestamptz - interval '1 hour' AND start_time < $1::timestamptz + interval '24 hours'
  UNION ALL
  SELECT ${COLUMNS} FROM recordings
  WHERE (part_id IS NOT NULL OR end_time - start_time > interval '1 hour') AND end_time > $1::timestamptz
    AND start_time > $1::timestamptz - interval '744 hours' AND start_time <= $1::timestamptz - interval '1 hour'`;

/** The sums of that day as the recordings have them. */
const COUNTED = `
  SELECT ${KEY}, bool_or(is_shared) AS is_shared, ARRAY(
    SELECT coalesce(sum(one.ms), 0)::bigint FROM generate_series(0, 95) AS place
      LEFT JOIN unnest(array_agg(slot), array_agg(milliseconds)) AS one (slot, ms) ON one.slot = place
    GROUP BY place ORDER BY place) AS milliseconds
  FROM (
    SELECT ${KEY}, is_shared, 24 * (array_position(ARRAY['stored', 'available', 'expired', 'failed'], status::text) - 1)
        + extract(hour FROM hour AT TIME ZONE 'UTC')::integer AS slot,
      (extract(epoch FROM least(ends, hour + interval '1 hour') - greatest(starts, hour)) * 1000)::bigint AS milliseconds
    FROM (
      SELECT *, date_trunc('milliseconds', start_time) AS starts,
        date_trunc('milliseconds', least(end_time, start_time + interval '744 hours')) AS ends,
        coalesce(part_id IS NOT NULL OR end_time - start_time > interval '1 hour'
          OR start_time < max(end_time) OVER (earlier ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
          OR end_time > lead(start_time) OVER earlier, false) AS is_shared
      FROM (${FOOTAGE}) AS footage
      WINDOW earlier AS (PARTITION BY ${KEY} ORDER BY start_time, end_time)) AS footage,
      generate_series($1::timestamptz, $1::timestamptz + interval '23 hours', interval '1 hour') AS hour
    WHERE starts < hour + interval '1 hour' AND ends > hour) AS hours
  GROUP BY ${KEY}`;

/**
 * Computes the sums of a day again and corrects those that differ, also whether recordings share time. Returns how many did; a day that needs its recordings no longer is none. It locks nothing: a sum that changes while it
 * runs is left for the next time, and a writer that has not come to its sum yet adds to the corrected one.
 */
export async function correctDay(database: Querying, day: string): Promise<number> {
  const [{ corrected }] = await database.query<[{ corrected: number }]>(
    `WITH counted AS MATERIALIZED (${COUNTED}),
     fixed AS (
       UPDATE coverage_days AS d SET milliseconds = coalesce(c.milliseconds, ${ZEROS}),
         is_shared = coalesce(c.is_shared, false)
       FROM coverage_days AS known LEFT JOIN counted AS c USING (${KEY})
       WHERE known.day = $2::date AND d.day = $2::date AND d.xmin = known.xmin
         AND (d.hauler_id, d.connection_id, d.truck_id, d.camera_id)
           = (known.hauler_id, known.connection_id, known.truck_id, known.camera_id)
         AND (known.milliseconds <> coalesce(c.milliseconds, ${ZEROS}) OR known.is_shared <> coalesce(c.is_shared, false))
       RETURNING known.milliseconds <> coalesce(c.milliseconds, ${ZEROS}) OR coalesce(c.is_shared AND NOT known.is_shared, false) AS wrong),
     added AS (
       INSERT INTO coverage_days (${KEY}, day, is_shared, milliseconds)
       SELECT ${KEY}, $2::date, is_shared, milliseconds FROM counted AS c
       WHERE NOT EXISTS (SELECT FROM coverage_days AS d WHERE (d.hauler_id, d.connection_id, d.truck_id, d.camera_id, d.day)
         = (c.hauler_id, c.connection_id, c.truck_id, c.camera_id, $2::date))
       ON CONFLICT DO NOTHING RETURNING 1)
     SELECT (SELECT count(*) FROM fixed WHERE wrong)::integer + (SELECT count(*) FROM added)::integer AS corrected`,
    [`${day}T00:00:00Z`, day],
  );
  return corrected;
}

/** The days from a day on on which recordings of a camera share time, or did once. */
export async function sharedDays(database: Querying, from: string): Promise<string[]> {
  const rows = await database.query<{ day: string }[]>(
    'SELECT DISTINCT day::text AS day FROM coverage_days WHERE is_shared AND day >= $1::date ORDER BY 1',
    [from],
  );
  return rows.map(({ day }) => day);
}
