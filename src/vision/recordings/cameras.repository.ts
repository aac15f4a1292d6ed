import type { Sql } from '../../core/database/sql.js';
import { cameraSql } from '../camera.sql.js';
import type { TruckKey } from '../truck.js';
import { cameraOf, type NamePair } from './camera-names.rules.js';
import type { RecordedTime } from './coverage-days.repository.js';

/** Nobody else writes recordings of the connection, or names of its cameras, until the end of the transaction. */
export const lockRecordings = (transaction: Sql, connectionId: string): Promise<unknown> =>
  transaction.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`recordings: ${connectionId}`]);

/**
 * Notes the cameras of recordings that were listed or listed with another time: none begins before `first_at` or after `last_at`. That is an
 * hour more than is known, so that a row is seldom written. The caller has locked the recordings.
 */
export async function noteCameras(transaction: Sql, recordings: readonly RecordedTime[]): Promise<void> {
  if (recordings.length === 0) return;
  await transaction.query(
    `INSERT INTO cameras AS known (hauler_id, connection_id, truck_id, name, camera, first_at, last_at)
     SELECT hauler_id, connection_id, truck_id, camera_id, ${cameraSql('r')}, first_at, last_at + interval '1 hour'
     FROM (
       SELECT hauler_id, connection_id, truck_id, camera_id, min(start_time) AS first_at, max(end_time) AS last_at
       FROM json_to_recordset($1::json) AS r (hauler_id uuid, connection_id uuid, truck_id text, camera_id text,
         start_time timestamptz, end_time timestamptz)
       GROUP BY hauler_id, connection_id, truck_id, camera_id) AS r
     ON CONFLICT (hauler_id, connection_id, truck_id, name) DO UPDATE
       SET first_at = least(known.first_at, excluded.first_at), last_at = greatest(known.last_at, excluded.last_at)
       WHERE known.first_at IS NULL OR excluded.first_at < known.first_at
         OR excluded.last_at > known.last_at + interval '1 hour'`,
    [JSON.stringify(recordings)],
  );
}

/** Decides anew which names of a truck are one camera, after a pair was learned. The caller has locked the recordings. */
export async function joinNames(
  transaction: Sql,
  { haulerId, connectionId, truckId }: TruckKey,
  pairs: readonly NamePair[],
): Promise<void> {
  const truck = [haulerId, connectionId, truckId];
  const known = await transaction.query<{ name: string }>(
    'SELECT name FROM cameras WHERE (hauler_id, connection_id, truck_id) = ($1, $2, $3)',
    truck,
  );
  const paired = pairs.flatMap(({ requested, returned }) => [requested, returned]);
  const names = [...new Set([...known.map(({ name }) => name), ...paired])];
  await transaction.query(
    `INSERT INTO cameras (hauler_id, connection_id, truck_id, name, camera)
     SELECT $1, $2, $3, * FROM unnest($4::text[], $5::text[])
     ON CONFLICT (hauler_id, connection_id, truck_id, name) DO UPDATE SET camera = excluded.camera`,
    [...truck, names, names.map((name) => cameraOf(name, pairs))],
  );
}
