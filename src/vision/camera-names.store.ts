import type { DataSource, EntityManager } from 'typeorm';
import type { Recording } from '../contracts/vision/vision.dto.js';
import { type NamePair, namesOf } from './camera-names.js';
import { isSameCamera, mayBeAliases } from './spelling.js';

/** The camera that a partner was asked for. */
export interface AskedCamera {
  readonly haulerId: string;
  readonly connectionId: string;
  readonly truckId: string;
  readonly cameraId: string;
}

/** Keeps by which other names the partner has answered for a camera. */
export async function keepCameraNames(
  manager: EntityManager,
  { haulerId, connectionId, truckId, cameraId: asked }: AskedCamera,
  answers: readonly Recording[],
): Promise<void> {
  const ofTruck = answers.filter((answer) => answer.truckId === truckId).map(({ cameraId }) => cameraId);
  // Another placement, or another number, is another camera.
  const isOther = (name: string) => name !== asked && (isSameCamera(asked, name) || mayBeAliases(asked, name));
  const others = [...new Set(ofTruck)].filter(isOther).sort();
  if (others.length === 0) return;
  await manager.query(
    `INSERT INTO partner_camera_names (hauler_id, connection_id, truck_id, asked, answered)
     SELECT $1, $2, $3, $4, name FROM unnest($5::text[]) AS name ON CONFLICT DO NOTHING`,
    [haulerId, connectionId, truckId, asked, others],
  );
}

/** What is known of the names of a truck's cameras. */
export function namePairsOf(dataSource: DataSource, connectionId: string, truckId: string): Promise<NamePair[]> {
  return dataSource.query<NamePair[]>(
    'SELECT asked, answered FROM partner_camera_names WHERE connection_id = $1 AND truck_id = $2 ORDER BY asked, answered',
    [connectionId, truckId],
  );
}

/** A camera by one of its names, beside its truck and its connection. */
export type NamedCamera = readonly [connectionId: string, truckId: string, cameraId: string];

/** The other names of the cameras that one name stands for: a number is the front camera of one truck, the rear one of another. */
export async function otherNamesOf(
  dataSource: DataSource,
  name: string,
  { connectionId, truckId }: { readonly connectionId?: string | undefined; readonly truckId?: string | undefined },
): Promise<NamedCamera[]> {
  const rows = await dataSource.query<{ connection_id: string; truck_id: string; pairs: NamePair[] }[]>(
    `SELECT connection_id, truck_id, json_agg(json_build_object('asked', asked, 'answered', answered)) AS pairs
     FROM partner_camera_names
     WHERE ($2::uuid IS NULL OR connection_id = $2) AND ($3::text IS NULL OR truck_id = $3)
     GROUP BY connection_id, truck_id
     HAVING bool_or(lower(btrim($1)) IN (lower(btrim(asked)), lower(btrim(answered))))`,
    [name, connectionId ?? null, truckId ?? null],
  );
  return rows.flatMap(({ connection_id, truck_id, pairs }) =>
    namesOf(name, pairs)
      .filter((other) => other !== name)
      .map((other): NamedCamera => [connection_id, truck_id, other]),
  );
}
