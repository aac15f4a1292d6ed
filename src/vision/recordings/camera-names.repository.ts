import type { Sql } from '../../core/database/sql.js';
import { cameraSql } from '../camera.sql.js';
import type { CameraKey, CameraName, Truck, TruckKey } from '../truck.js';
import { cameraOf, isSameCamera, mayBeAliases, type NamePair, namesOf } from './camera-names.rules.js';
import type { RecordedTime } from './coverage-days.repository.js';
import type { Recording } from '../../contracts/vision/vision.api.js';
import { areIndexable } from '../client/read-list.rules.js';

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
async function joinNames(
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

/**
 * Stores the other names that the partner returned for a requested camera: of clips under the id of the request, and of
 * recordings in a list that was filtered by the camera.
 */
export async function storeCameraNames(
  transaction: Sql,
  { haulerId, connectionId, truckId, cameraId }: CameraKey,
  returned: readonly Recording[],
): Promise<void> {
  const names = returned.filter((recording) => recording.truckId === truckId).map((recording) => recording.cameraId);
  // Another placement, or another number, is another camera.
  const isOtherName = (name: string) =>
    name !== cameraId && (isSameCamera(cameraId, name) || mayBeAliases(cameraId, name));
  const others = [...new Set(names)]
    .filter((name) => isOtherName(name) && areIndexable(truckId, cameraId, name))
    .sort();
  if (others.length === 0) return;
  await lockRecordings(transaction, connectionId);
  const learned = await transaction.query<object>(
    `INSERT INTO partner_camera_names (hauler_id, connection_id, truck_id, requested_name, returned_name)
     SELECT $1, $2, $3, $4, name FROM unnest($5::text[]) AS name ON CONFLICT DO NOTHING RETURNING returned_name`,
    [haulerId, connectionId, truckId, cameraId, others],
  );
  if (learned.length === 0) return;
  const [pairs = []] = await namePairsOf(transaction, [{ connectionId, truckId }]);
  await joinNames(transaction, { haulerId, connectionId, truckId }, pairs);
}

/** The name pairs of each truck. */
export async function namePairsOf(database: Sql, trucks: readonly Truck[]): Promise<NamePair[][]> {
  const rows = await database.query<NamePair & { readonly place: number }>(
    `SELECT place::integer AS place, requested_name AS requested, returned_name AS returned
     FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS trucks (connection_id, truck_id, place)
     JOIN partner_camera_names USING (connection_id, truck_id) ORDER BY 2, 3`,
    [trucks.map(({ connectionId }) => connectionId), trucks.map(({ truckId }) => truckId)],
  );
  return trucks.map((_, i) => rows.filter(({ place }) => place === i + 1));
}

/** The name pairs of the trucks of these recordings, by truck. */
export async function namesByTruck(
  database: Sql,
  connectionId: string,
  recordings: readonly Recording[],
): Promise<Map<string, NamePair[]>> {
  const trucks = [...new Set(recordings.map(({ truckId }) => truckId))];
  const pairs = await namePairsOf(
    database,
    trucks.map((truckId) => ({ connectionId, truckId })),
  );
  return new Map(trucks.map((truckId, i) => [truckId, pairs[i] ?? []]));
}

/** The other names of every camera with this name. A number may be the front camera of one truck and the rear of another. */
export async function otherNamesOf(
  database: Sql,
  name: string,
  { connectionId, truckId }: { readonly connectionId?: string | undefined; readonly truckId?: string | undefined },
): Promise<CameraName[]> {
  const rows = await database.query<Truck & { readonly pairs: NamePair[] }>(
    `SELECT connection_id AS "connectionId", truck_id AS "truckId",
       json_agg(json_build_object('requested', requested_name, 'returned', returned_name)) AS pairs
     FROM partner_camera_names
     WHERE ($2::uuid IS NULL OR connection_id = $2) AND ($3::text IS NULL OR truck_id = $3)
     GROUP BY connection_id, truck_id
     HAVING bool_or(lower(btrim($1)) IN (lower(btrim(requested_name)), lower(btrim(returned_name))))`,
    [name, connectionId ?? null, truckId ?? null],
  );
  return rows.flatMap(({ pairs, ...truck }) =>
    namesOf(name, pairs)
      .filter((other) => other !== name)
      .map((cameraId) => ({ ...truck, cameraId })),
  );
}
