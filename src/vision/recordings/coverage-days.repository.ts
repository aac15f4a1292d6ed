import type { Sql } from '../../core/database/sql.js';
import type { TruckRow } from '../truck.js';

/** The time of a recording, by its camera. */
export interface RecordedTime extends TruckRow {
  readonly camera_id: string;
  readonly start_time: Date;
  readonly end_time: Date;
}

/** Of a recording `r`. */
export const RECORDED_TIME = 'r.hauler_id, r.connection_id, r.truck_id, r.camera_id, r.start_time, r.end_time';

/**
 * The sums of the days of these recordings are not known any more. In the transaction that lists, revives or deletes them: the sum
 * of a day locks its row before it reads the recordings, so that either it sees this change, or this forgets what it has written. In the order
 * of the key, so that two writers do not wait for each other.
 */
export async function forgetDays(database: Sql, recordings: readonly RecordedTime[]): Promise<void> {
  if (recordings.length === 0) return;
  await database.query(
    `INSERT INTO coverage_days AS d (hauler_id, connection_id, truck_id, camera_id, day)
     SELECT DISTINCT hauler_id, connection_id, truck_id, camera_id, day::date
     FROM json_to_recordset($1::json) AS r (hauler_id uuid, connection_id uuid, truck_id text, camera_id text,
         start_time timestamptz, end_time timestamptz),
       generate_series(date_trunc('day', start_time AT TIME ZONE 'UTC'),
         least(end_time, start_time + interval '31 days') AT TIME ZONE 'UTC' - interval '1 microsecond', interval '1 day') AS day
     ORDER BY 1, 2, 3, 4, 5
     ON CONFLICT (hauler_id, connection_id, truck_id, camera_id, day)
       DO UPDATE SET stored = NULL, expired = NULL, failed = NULL WHERE d.stored IS NOT NULL`,
    [JSON.stringify(recordings)],
  );
}
