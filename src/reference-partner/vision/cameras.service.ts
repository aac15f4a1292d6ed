import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { VISION_API } from '../../contracts/vision/vision.api.js';
import type { HostedCamera } from '../../contracts/admin/hosted.dto.js';
import { inTransaction } from '../../database/transaction.js';
import { apiError } from '../../errors/app-error.js';
import { moveToCamera, MOVING } from './camera-moves.js';

export interface CameraQuery {
  readonly customerId: string;
  readonly truckId?: string | undefined;
  readonly cameraId?: string | undefined;
}

/** A camera's own id means something only beside its truck: the front camera of one is number 1, and number 2 of another. */
export interface TruckCamera {
  readonly truckId: string;
  readonly cameraId: string;
}

/** The cameras of each truck, by every name they have: placement and number are aliases of one camera (decision 45). */
@Injectable()
export class HostedCameras {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Gives a camera its aliases, those and no others; what two cameras would share goes to the one told last, with what is
   * stored under it. `conflict` where that has a start in common with what the camera has.
   */
  async put({ customerId, truckId, cameraId, aliases }: HostedCamera): Promise<HostedCamera> {
    const names = [...new Set([cameraId, ...aliases])].sort();
    const camera = { customerId, truckId, cameraId, aliases: names.filter((name) => name !== cameraId) };
    await inTransaction(
      this.dataSource,
      async (manager) => {
        // The names of a camera that is this one by now would lead to where nothing is.
        await manager.query(
          'DELETE FROM reference_camera_names WHERE (customer_id, truck_id) = ($1, $2) AND camera_id = ANY($3) AND name <> ALL($3)',
          [customerId, truckId, names],
        );
        await manager.query(
          `INSERT INTO reference_camera_names SELECT $1, $2, name, $3 FROM unnest($4::text[]) AS name
           ON CONFLICT (customer_id, truck_id, name) DO UPDATE SET camera_id = excluded.camera_id`,
          [customerId, truckId, cameraId, names],
        );
        await moveToCamera(manager, camera);
      },
      MOVING,
    );
    return camera;
  }

  /** The camera of a name, which stays so until the transaction ends; a name that no camera has becomes one. */
  async learn(manager: EntityManager, { customerId, truckId, cameraId }: Required<CameraQuery>): Promise<string> {
    const [camera] = await manager.query<[{ camera_id: string }]>(
      `INSERT INTO reference_camera_names AS known VALUES ($1, $2, $3, $3)
       ON CONFLICT (customer_id, truck_id, name) DO UPDATE SET camera_id = known.camera_id RETURNING camera_id`,
      [customerId, truckId, cameraId],
    );
    return camera.camera_id;
  }

  /** The camera's own id, whatever name was asked for; the name itself where no camera has it. */
  async idOf(customerId: string, truckId: string, name: string): Promise<string> {
    const [camera] = await this.find({ customerId, truckId, cameraId: name });
    return camera?.cameraId ?? name;
  }

  /** All cameras that are meant; `notFound` where customer, truck or camera is unknown (decision 44). */
  async known(query: CameraQuery): Promise<TruckCamera[]> {
    const cameras = await this.find(query);
    if (cameras.length === 0) throw apiError(VISION_API, 'notFound', await this.whatIsUnknown(query));
    return cameras;
  }

  private find({ customerId, truckId, cameraId }: CameraQuery): Promise<TruckCamera[]> {
    return this.dataSource.query<TruckCamera[]>(
      `SELECT DISTINCT truck_id AS "truckId", camera_id AS "cameraId" FROM reference_camera_names
       WHERE customer_id = $1 AND ($2::text IS NULL OR truck_id = $2) AND ($3::text IS NULL OR name = $3)`,
      [customerId, truckId ?? null, cameraId ?? null],
    );
  }

  private async whatIsUnknown({ customerId, truckId, cameraId }: CameraQuery): Promise<string> {
    if ((await this.find({ customerId })).length === 0) return 'the customer is unknown: check customerId';
    if (truckId !== undefined && (await this.find({ customerId, truckId })).length === 0) {
      return 'the truck is unknown: check truckId';
    }
    return `the camera is unknown: check cameraId${cameraId === undefined ? '' : ', placement or number'}`;
  }
}
