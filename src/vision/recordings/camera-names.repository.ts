import type { Recording } from '../../contracts/vision/vision.dto.js';
import type { Sql } from '../../core/database/sql.js';
import type { CameraKey, TruckKey } from '../truck.js';
import { areIndexable } from '../client/indexed-names.rules.js';
import { joinNames, lockRecordings } from './cameras.repository.js';
import { isSameCamera, mayBeAliases, type NamePair, namesOf } from './camera-names.rules.js';

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

export type Truck = Omit<TruckKey, 'haulerId'>;

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

export type NamedCamera = Omit<CameraKey, 'haulerId'>;

/** The other names of every camera with this name. A number may be the front camera of one truck and the rear of another. */
export async function otherNamesOf(
  database: Sql,
  name: string,
  { connectionId, truckId }: { readonly connectionId?: string | undefined; readonly truckId?: string | undefined },
): Promise<NamedCamera[]> {
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
