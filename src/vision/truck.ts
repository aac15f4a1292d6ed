/** A connection to a partner's Vision API. */
export interface ConnectionKey {
  readonly haulerId: string;
  readonly connectionId: string;
}

/** A truck, as the partner of a connection names it. */
export interface Truck {
  readonly connectionId: string;
  readonly truckId: string;
}

export interface TruckKey extends Truck, ConnectionKey {}

/** One of the names of a camera of a truck. */
export interface CameraName extends Truck {
  readonly cameraId: string;
}

export interface CameraKey extends CameraName, ConnectionKey {}

/** `TruckKey` in the columns of a row. */
export interface TruckRow {
  readonly hauler_id: string;
  readonly connection_id: string;
  readonly truck_id: string;
}

/**
 * That a part of a clip request is of one of the `trucks`: with a bounded `start_time`, its index finds it. The hash stands for the id,
 * which may be too long for the index.
 */
export const PART_OF_TRUCK = `part.connection_id = trucks.connection_id AND part.truck_id = trucks.truck_id
  AND hashtext(part.truck_id) = hashtext(trucks.truck_id)`;
