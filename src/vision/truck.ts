/** A connection to a partner's Vision API. */
export interface ConnectionKey {
  readonly haulerId: string;
  readonly connectionId: string;
}

/** A truck, as the partner of a connection names it. */
export interface TruckKey extends ConnectionKey {
  readonly truckId: string;
}

/** A camera of a truck, by one of its names. */
export interface CameraKey extends TruckKey {
  readonly cameraId: string;
}

/** `TruckKey` in the columns of a row. */
export interface TruckRow {
  readonly hauler_id: string;
  readonly connection_id: string;
  readonly truck_id: string;
}
