import type { Sql } from '../../core/database/sql.js';

/** By how many milliseconds the clock of a customer is ahead. */
export async function findClockOffset(database: Sql, customerId: string): Promise<number> {
  const row = await database.first<{ offsetMs: number }>(
    'SELECT offset_ms::float8 AS "offsetMs" FROM reference_clocks WHERE customer_id = $1',
    [customerId],
  );
  return row?.offsetMs ?? 0;
}

/** Moves the clock of a customer forward; returns its offset. */
export async function addClockOffset(database: Sql, customerId: string, milliseconds: number): Promise<number> {
  const row = await database.only<{ offsetMs: number }>(
    `INSERT INTO reference_clocks AS clock VALUES ($1, $2)
     ON CONFLICT (customer_id) DO UPDATE SET offset_ms = clock.offset_ms + excluded.offset_ms
     RETURNING offset_ms::float8 AS "offsetMs"`,
    [customerId, Math.ceil(milliseconds)],
  );
  return row.offsetMs;
}

/** The first truck of a customer that is not of the catalogue, one with recordings if there is one. */
export async function findSourceTruck(database: Sql, customerId: string): Promise<string | undefined> {
  const source = await database.first<{ truckId: string }>(
    `SELECT names.truck_id AS "truckId" FROM reference_camera_names AS names
     WHERE customer_id = $1 AND truck_id NOT LIKE 'SANDBOX-%'
     ORDER BY EXISTS (SELECT 1 FROM reference_recordings AS recorded
       WHERE (recorded.customer_id, recorded.truck_id) = (names.customer_id, names.truck_id)) DESC, truck_id LIMIT 1`,
    [customerId],
  );
  return source?.truckId;
}

/** Gives a truck the cameras of another one. */
export async function copyCameras(database: Sql, customerId: string, from: string, to: string): Promise<void> {
  await database.query(
    `INSERT INTO reference_camera_names SELECT customer_id, $2, name, camera_id FROM reference_camera_names
     WHERE (customer_id, truck_id) = ($1, $3) ON CONFLICT DO NOTHING`,
    [customerId, to, from],
  );
}

/** The first other name of a camera. */
export async function findAlias(
  database: Sql,
  camera: { readonly customerId: string; readonly truckId: string; readonly cameraId: string },
): Promise<string | undefined> {
  const alias = await database.first<{ name: string }>(
    `SELECT name FROM reference_camera_names
     WHERE (customer_id, truck_id, camera_id) = ($1, $2, $3) AND name <> camera_id ORDER BY name LIMIT 1`,
    [camera.customerId, camera.truckId, camera.cameraId],
  );
  return alias?.name;
}

/** The scenario of a requested clip that is not ready; undefined without one. */
export async function findClipScenario(database: Sql, id: string): Promise<string | undefined> {
  const row = await database.first<{ name: string | null }>(
    `SELECT sandbox->>'name' AS name FROM reference_video_requests WHERE id = $1 AND status <> 'ready'`,
    [id],
  );
  return row?.name ?? undefined;
}
