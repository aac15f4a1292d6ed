import { Injectable } from '@nestjs/common';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import type { HostedCamera } from '../../contracts/admin/hosted.routes.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { VISION_API } from '../../contracts/vision/vision.api.js';
import { Database } from '../../core/database/database.js';
import type { Sql } from '../../core/database/sql.js';
import { apiError } from '../../core/errors/app-error.js';

/** Moving 200,000 recordings (one per minute for five months) took 9 s. */
const MOVE_TIMEOUT = { statementTimeoutMs: 300_000 };

export interface CameraQuery {
  readonly customerId: string;
  readonly truckId?: string | undefined;
  readonly cameraId?: string | undefined;
}

/** A camera id is unique only within its truck: camera 1 of two trucks is two cameras. */
export interface ReferenceCamera {
  readonly truckId: string;
  readonly cameraId: string;
}

/** The cameras of each truck with all their names. Placement and number are aliases of one camera (decision 45). */
@Injectable()
export class ReferenceCameras {
  constructor(private readonly database: Database) {}

  /**
   * Sets the aliases of a camera. A name of another camera moves to this one, with everything that is stored under it.
   * Throws `conflict` if recordings of both names start at the same time.
   */
  async put({ customerId, truckId, cameraId, aliases }: HostedCamera): Promise<HostedCamera> {
    const names = [...new Set([cameraId, ...aliases])].sort();
    const camera = { customerId, truckId, cameraId, aliases: names.filter((name) => name !== cameraId) };
    await this.database.transaction(async (transaction) => {
      // A camera that becomes an alias of this one loses its own aliases; they would lead to a camera without recordings.
      await transaction.query(
        'DELETE FROM reference_camera_names WHERE (customer_id, truck_id) = ($1, $2) AND camera_id = ANY($3) AND name <> ALL($3)',
        [customerId, truckId, names],
      );
      await transaction.query(
        `INSERT INTO reference_camera_names SELECT $1, $2, name, $3 FROM unnest($4::text[]) AS name
           ON CONFLICT (customer_id, truck_id, name) DO UPDATE SET camera_id = excluded.camera_id`,
        [customerId, truckId, cameraId, names],
      );
      await moveToCamera(transaction, camera);
    }, MOVE_TIMEOUT);
    return camera;
  }

  /** Returns the camera of a name, and locks the name until the transaction ends. Adds a camera for an unknown name. */
  async findOrAdd(transaction: Sql, { customerId, truckId, cameraId }: Required<CameraQuery>): Promise<string> {
    const camera = await transaction.only<{ camera_id: string }>(
      `INSERT INTO reference_camera_names AS known VALUES ($1, $2, $3, $3)
       ON CONFLICT (customer_id, truck_id, name) DO UPDATE SET camera_id = known.camera_id RETURNING camera_id`,
      [customerId, truckId, cameraId],
    );
    return camera.camera_id;
  }

  /** The id of the camera with this name, or the name itself if no camera has it. */
  async idOf(customerId: string, truckId: string, name: string): Promise<string> {
    const [camera] = await this.find({ customerId, truckId, cameraId: name });
    return camera?.cameraId ?? name;
  }

  /** All cameras that match the query. Throws `notFound` if customer, truck or camera is unknown (decision 44). */
  async known(query: CameraQuery): Promise<ReferenceCamera[]> {
    const cameras = await this.find(query);
    if (cameras.length === 0) throw apiError(VISION_API, 'notFound', await this.unknownPart(query));
    return cameras;
  }

  private find({ customerId, truckId, cameraId }: CameraQuery): Promise<ReferenceCamera[]> {
    return this.database.query<ReferenceCamera>(
      `SELECT DISTINCT truck_id AS "truckId", camera_id AS "cameraId" FROM reference_camera_names
       WHERE customer_id = $1 AND ($2::text IS NULL OR truck_id = $2) AND ($3::text IS NULL OR name = $3)`,
      [customerId, truckId ?? null, cameraId ?? null],
    );
  }

  private async unknownPart({ customerId, truckId, cameraId }: CameraQuery): Promise<string> {
    if ((await this.find({ customerId })).length === 0) return 'the customer is unknown: check customerId';
    if (truckId !== undefined && (await this.find({ customerId, truckId })).length === 0) {
      return 'the truck is unknown: check truckId';
    }
    return `the camera is unknown: check cameraId${cameraId === undefined ? '' : ', placement or number'}`;
  }
}

/**
 * Moves recordings, requests and clips of the aliases to their camera, where queries look for them. Throws `conflict` if
 * two recordings start at the same time. The caller must hold the locks of the names, so that nothing is added meanwhile.
 */
async function moveToCamera(transaction: Sql, camera: HostedCamera): Promise<void> {
  const { customerId, truckId, cameraId, aliases } = camera;
  if (aliases.length === 0) return;
  await assertNoSameStart(transaction, camera);
  const parameters = [customerId, truckId, cameraId, aliases];
  const stored = '(customer_id, truck_id) = ($1, $2) AND camera_id = ANY($4)';
  await transaction.query(`UPDATE reference_recordings SET camera_id = $3 WHERE ${stored}`, parameters);
  // A run in progress looks for recordings of the old name: it loses its row, and the next run starts at once.
  await transaction.query(
    `UPDATE reference_video_requests SET camera_id = $3, started_at = NULL,
       due_at = CASE WHEN status = 'processing' THEN now() END
     WHERE ${stored}`,
    parameters,
  );
  await transaction.query(`UPDATE reference_clips SET camera_id = $3 WHERE ${stored}`, parameters);
}

async function assertNoSameStart(transaction: Sql, camera: HostedCamera): Promise<void> {
  const { customerId, truckId, cameraId, aliases } = camera;
  const conflict = await transaction.first<{ name: string; start_time: Date }>(
    `SELECT camera_id AS name, start_time FROM reference_recordings AS moved
     WHERE (customer_id, truck_id) = ($1, $2) AND camera_id = ANY($4) AND EXISTS (
       SELECT 1 FROM reference_recordings AS other
       WHERE (other.customer_id, other.truck_id, other.start_time) = ($1, $2, moved.start_time)
         AND other.camera_id = ANY($4 || $3::text) AND other.id <> moved.id)
     ORDER BY moved.start_time, name LIMIT 1`,
    [customerId, truckId, cameraId, aliases],
  );
  if (conflict === undefined) return;
  const message = `${conflict.name} cannot be a name of ${cameraId}: there are two recordings that start at ${formatInstant(conflict.start_time)}`;
  throw apiError(ADMIN_API, 'conflict', message);
}
