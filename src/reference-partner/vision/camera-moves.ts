import type { EntityManager } from 'typeorm';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import type { HostedCamera } from '../../contracts/admin/hosted.dto.js';
import { formatInstant, type Instant } from '../../contracts/common/instant.js';
import { instantSql } from '../../database/instant-sql.js';
import { apiError } from '../../errors/app-error.js';

/** 200,000 recordings, a minute each for five months, took 9 s. */
export const MOVING = { statementTimeoutMs: 300_000 };

/**
 * What was stored under a name that is an alias by now goes to its camera: nobody would find it where it is. `conflict`
 * where two of them start together. To be called while the names are locked, so that nothing is added meanwhile.
 */
export async function moveToCamera(manager: EntityManager, camera: HostedCamera): Promise<void> {
  const { customerId, truckId, cameraId, aliases } = camera;
  if (aliases.length === 0) return;
  await assertNoneTogether(manager, camera);
  const parameters = [customerId, truckId, cameraId, aliases];
  const stored = '(customer_id, truck_id) = ($1, $2) AND camera_id = ANY($4)';
  await manager.query(`UPDATE reference_recordings SET camera_id = $3 WHERE ${stored}`, parameters);
  // A run that is under way looks where nothing is any more: it loses its lease, and the next one begins at once.
  await manager.query(
    `UPDATE reference_video_requests SET camera_id = $3, leased_until = NULL, lease_token = NULL,
       due_at = CASE WHEN status = 'processing' THEN now() END
     WHERE ${stored}`,
    parameters,
  );
  await manager.query(`UPDATE reference_clips SET camera_id = $3 WHERE ${stored}`, parameters);
}

async function assertNoneTogether(manager: EntityManager, camera: HostedCamera): Promise<void> {
  const { customerId, truckId, cameraId, aliases } = camera;
  const [twice] = await manager.query<{ name: string; startTime: Instant }[]>(
    `SELECT camera_id AS name, ${instantSql('start_time')} AS "startTime" FROM reference_recordings AS moved
     WHERE (customer_id, truck_id) = ($1, $2) AND camera_id = ANY($4) AND EXISTS (
       SELECT 1 FROM reference_recordings AS other
       WHERE (other.customer_id, other.truck_id, other.start_time) = ($1, $2, moved.start_time)
         AND other.camera_id = ANY($4 || $3::text) AND other.id <> moved.id)
     ORDER BY moved.start_time, name LIMIT 1`,
    [customerId, truckId, cameraId, aliases],
  );
  if (twice === undefined) return;
  const message = `${twice.name} cannot be a name of ${cameraId}: there are two recordings that start at ${formatInstant(twice.startTime)}`;
  throw apiError(ADMIN_API, 'conflict', message);
}
