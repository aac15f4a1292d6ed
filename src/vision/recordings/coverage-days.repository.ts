import type { Recording } from '../../contracts/vision/vision.dto.js';
import type { Querying } from '../../database/sql.js';
import type { RecordingState } from './recording.rules.js';
import { type CameraRow, type DayDelta, dayDeltas, type Footage, type FootageChange } from './coverage-days.rules.js';

/** What the sums need of a recording `r`. */
export const DAY_COLUMNS = 'r.hauler_id, r.connection_id, r.truck_id, r.camera_id, r.start_time, r.end_time, r.status';

/** `status` is that after the write. */
export type CountedRow = CameraRow & Footage;

/** Adds deltas, a parameter in JSON, to the sums. In the order of the key, so that two writers do not wait for each other. */
export const addDaysSql = (deltas: string, condition = 'true'): string => `
    INSERT INTO coverage_days AS d (hauler_id, connection_id, truck_id, camera_id, day, is_shared, milliseconds)
    SELECT hauler_id, connection_id, truck_id, camera_id, day, is_shared, milliseconds
      FROM json_to_recordset(${deltas}::json) AS delta (hauler_id uuid, connection_id uuid, truck_id text, camera_id text,
        day date, is_shared boolean, milliseconds bigint[])
     WHERE ${condition}
        ON CONFLICT (hauler_id, connection_id, truck_id, camera_id, day) DO UPDATE
       SET is_shared = d.is_shared OR excluded.is_shared,
           milliseconds = ARRAY(SELECT one + other
             FROM unnest(d.milliseconds, excluded.milliseconds) WITH ORDINALITY AS hours (one, other, hour) ORDER BY hour)`;

/** Keeps the sums of cameras by day right; in the transaction that changes the recordings. */
export async function addToDays(database: Querying, changes: readonly FootageChange[]): Promise<void> {
  const deltas: DayDelta[] = dayDeltas(changes);
  if (deltas.length > 0) await database.query(addDaysSql('$1'), [JSON.stringify(deltas)]);
}

/** For recordings whose state was changed, or that were deleted (`after` undefined). `before`: their own state, unless it was another. */
export function moveDays(
  database: Querying,
  rows: readonly CountedRow[],
  after: RecordingState | undefined,
  before?: RecordingState,
): Promise<void> {
  const changes = rows.map((row) => ({
    camera: row,
    before: { ...row, status: before ?? row.status },
    after: after === undefined ? undefined : { ...row, status: after },
  }));
  return addToDays(database, changes);
}

/** The listed chunks that share time with another stored one of their camera, by their position. */
export async function overlapping(
  database: Querying,
  [haulerId, connectionId]: readonly [string, string],
  chunks: readonly Recording[],
  months: readonly [Date, Date],
): Promise<ReadonlySet<number>> {
  const rows = await database.query<{ place: number }[]>(
    `SELECT (place - 1)::integer AS place
     FROM unnest($3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[])
       WITH ORDINALITY AS listed (truck, camera, starts, ends, place)
     WHERE EXISTS (SELECT FROM recordings r WHERE r.hauler_id = $1 AND r.connection_id = $2 AND r.truck_id = listed.truck
       AND r.camera_id = listed.camera AND r.start_time > listed.starts - interval '1 hour' AND r.start_time < listed.ends
       AND r.end_time > listed.starts AND (r.start_time, r.end_time) <> (listed.starts, listed.ends)
       AND r.start_time >= $7 AND r.start_time < $8)`,
    [
      ...[haulerId, connectionId],
      chunks.map(({ truckId }) => truckId),
      chunks.map(({ cameraId }) => cameraId),
      chunks.map(({ startTime }) => startTime),
      chunks.map(({ endTime }) => endTime),
      ...months,
    ],
  );
  return new Set(rows.map(({ place }) => place));
}
