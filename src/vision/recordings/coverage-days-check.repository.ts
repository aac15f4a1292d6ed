import type { Querying } from '../../database/sql.js';

export interface DayTruck {
  readonly hauler_id: string;
  readonly connection_id: string;
  readonly truck_id: string;
}

/** A day (UTC) of a truck whose sums are not those of its recordings. */
export interface WrongDay {
  readonly day: string;
  readonly cameras: readonly string[];
  /** None of the cameras has a row. */
  readonly is_lost: boolean;
  /** Of all states together, of these cameras. */
  readonly summed_ms: number;
  readonly recorded_ms: number;
}

const KEY = 'hauler_id, connection_id, truck_id, camera_id';
const ZEROS = 'array_fill(0::bigint, ARRAY[96])';

const COLUMNS = `${KEY}, start_time, end_time, status, part_id`;

/** Parameters 3 to 5. */
const OF_TRUCK = '(hauler_id, connection_id, truck_id) = ($3::uuid, $4::uuid, $5::text)';

/**
 * The recordings of `[$1, $2)`, whole days (UTC): those of up to an hour by an index that has them all, all others by the one that only
 * they have.
 */
const footage = (where: string) => `
  SELECT ${COLUMNS} FROM recordings
  WHERE status IN ('stored', 'available', 'expired', 'failed') AND end_time > $1::timestamptz
    AND start_time > $1::timestamptz - interval '1 hour' AND start_time < $2::timestamptz AND ${where}
  UNION ALL
  SELECT ${COLUMNS} FROM recordings
  WHERE (part_id IS NOT NULL OR end_time - start_time > interval '1 hour') AND end_time > $1::timestamptz
    AND start_time > $1::timestamptz - interval '744 hours' AND start_time <= $1::timestamptz - interval '1 hour' AND ${where}`;

/** The sums of these days as the recordings have them. */
const counted = (where: string) => `
  SELECT ${KEY}, day, bool_or(is_shared) AS is_shared, ARRAY(
    SELECT coalesce(sum(one.ms), 0)::bigint FROM generate_series(0, 95) AS place
      LEFT JOIN unnest(array_agg(slot), array_agg(milliseconds)) AS one (slot, ms) ON one.slot = place
    GROUP BY place ORDER BY place) AS milliseconds
  FROM (
    SELECT ${KEY}, is_shared, (hour AT TIME ZONE 'UTC')::date AS day,
      24 * (array_position(ARRAY['stored', 'available', 'expired', 'failed'], status::text) - 1)
        + extract(hour FROM hour AT TIME ZONE 'UTC')::integer AS slot,
      (extract(epoch FROM least(ends, hour + interval '1 hour') - greatest(starts, hour)) * 1000)::bigint AS milliseconds
    FROM (
      SELECT *, date_trunc('milliseconds', start_time) AS starts,
        date_trunc('milliseconds', least(end_time, start_time + interval '744 hours')) AS ends,
        coalesce(part_id IS NOT NULL OR end_time - start_time > interval '1 hour'
          OR start_time < max(end_time) OVER (earlier ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
          OR end_time > lead(start_time) OVER earlier, false) AS is_shared
      FROM (${footage(where)}) AS footage
      WINDOW earlier AS (PARTITION BY ${KEY} ORDER BY start_time, end_time)) AS footage,
      generate_series(greatest(date_trunc('hour', starts, 'UTC'), $1::timestamptz),
        least(ends, $2::timestamptz) - interval '1 microsecond', interval '1 hour') AS hour) AS hours
  GROUP BY ${KEY}, day`;

const DAY_MS = 86_400_000;

/**
 * Computes the sums of a day again, of one truck or of all, and corrects those that differ, also whether recordings share time. Returns
 * how many did; a day that needs its recordings no longer is none. It locks nothing: a sum that changes while it runs is left for the next
 * time, and a writer that has not come to its sum yet adds to the corrected one.
 */
export async function correctDay(database: Querying, day: string, truck?: DayTruck): Promise<number> {
  const where = truck === undefined ? 'true' : OF_TRUCK;
  const start = Date.parse(`${day}T00:00:00Z`);
  const [{ corrected }] = await database.query<[{ corrected: number }]>(
    `WITH counted AS MATERIALIZED (${counted(where)}),
     known AS (
       SELECT *, d.xmin AS version FROM coverage_days AS d
       WHERE day = ($1::timestamptz AT TIME ZONE 'UTC')::date AND ${where}),
     fixed AS (
       UPDATE coverage_days AS d SET milliseconds = coalesce(c.milliseconds, ${ZEROS}),
         is_shared = coalesce(c.is_shared, false)
       FROM known LEFT JOIN counted AS c USING (${KEY}, day)
       WHERE d.xmin = known.version AND (d.hauler_id, d.connection_id, d.truck_id, d.camera_id, d.day)
           = (known.hauler_id, known.connection_id, known.truck_id, known.camera_id, known.day)
         AND (known.milliseconds <> coalesce(c.milliseconds, ${ZEROS}) OR known.is_shared <> coalesce(c.is_shared, false))
       RETURNING known.milliseconds <> coalesce(c.milliseconds, ${ZEROS}) OR coalesce(c.is_shared AND NOT known.is_shared, false) AS wrong),
     added AS (
       INSERT INTO coverage_days (${KEY}, day, is_shared, milliseconds)
       SELECT ${KEY}, day, is_shared, milliseconds FROM counted AS c
       WHERE NOT EXISTS (SELECT FROM coverage_days AS d WHERE (d.hauler_id, d.connection_id, d.truck_id, d.camera_id, d.day)
         = (c.hauler_id, c.connection_id, c.truck_id, c.camera_id, c.day))
       ON CONFLICT DO NOTHING RETURNING 1)
     SELECT (SELECT count(*) FROM fixed WHERE wrong)::integer + (SELECT count(*) FROM added)::integer AS corrected`,
    [new Date(start), new Date(start + DAY_MS), ...keyOf(truck)],
  );
  return corrected;
}

const keyOf = (truck: DayTruck | undefined): string[] =>
  truck === undefined ? [] : [truck.hauler_id, truck.connection_id, truck.truck_id];

/** The days of a truck, of all its time, whose sums differ from its recordings. Changes nothing. */
export function wrongDays(database: Querying, truck: DayTruck): Promise<WrongDay[]> {
  return database.query(
    `SELECT day::text, array_agg(camera_id ORDER BY camera_id) AS cameras, bool_and(d.milliseconds IS NULL) AS is_lost,
       coalesce(sum((SELECT sum(ms) FROM unnest(d.milliseconds) AS ms)), 0)::float8 AS summed_ms,
       coalesce(sum((SELECT sum(ms) FROM unnest(c.milliseconds) AS ms)), 0)::float8 AS recorded_ms
     FROM (SELECT * FROM coverage_days AS d WHERE ${OF_TRUCK}) AS d
       FULL JOIN (${counted(OF_TRUCK)}) AS c USING (${KEY}, day)
     WHERE (coalesce(d.milliseconds, ${ZEROS}) <> coalesce(c.milliseconds, ${ZEROS})
       OR coalesce(c.is_shared, false) AND NOT coalesce(d.is_shared, false))
     GROUP BY day ORDER BY day`,
    ['-infinity', 'infinity', ...keyOf(truck)],
  );
}

/** The first truck after another, by a step of the index that begins with them. */
const nextTruck = (table: string, after: string) => `
  SELECT r.hauler_id, r.connection_id, r.truck_id FROM ${table} AS r
  WHERE (r.hauler_id, r.connection_id, r.truck_id) > (${after}) ORDER BY 1, 2, 3 LIMIT 1`;

/** The next trucks that have sums or recordings. */
export function trucksAfter(database: Querying, after: DayTruck | undefined, limit: number): Promise<DayTruck[]> {
  const steps = (table: string) => `(WITH RECURSIVE one AS (
      (${nextTruck(table, '$1::uuid, $2::uuid, $3::text')})
      UNION ALL
      SELECT following.* FROM one, LATERAL (${nextTruck(table, 'one.hauler_id, one.connection_id, one.truck_id')}) AS following)
    SELECT * FROM one LIMIT ${limit})`;
  const first = { hauler_id: NO_ID, connection_id: NO_ID, truck_id: '' };
  return database.query(
    `SELECT * FROM (${steps('coverage_days')} UNION ${steps('recordings')}) AS trucks ORDER BY 1, 2, 3 LIMIT ${limit}`,
    keyOf(after ?? first),
  );
}

const NO_ID = '00000000-0000-0000-0000-000000000000';

/** The days from a day on on which recordings of a camera share time, or did once. */
export async function sharedDays(database: Querying, from: string): Promise<string[]> {
  const rows = await database.query<{ day: string }[]>(
    'SELECT DISTINCT day::text AS day FROM coverage_days WHERE is_shared AND day >= $1::date ORDER BY 1',
    [from],
  );
  return rows.map(({ day }) => day);
}
