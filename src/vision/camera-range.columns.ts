import { Column, PrimaryColumn } from 'typeorm';

/** What a request and a recording have in common: a range of one camera, and through whom it came. */
export class CameraRange {
  @PrimaryColumn('uuid', { name: 'hauler_id' })
  haulerId!: string;

  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid', { name: 'connection_id' })
  connectionId!: string;

  /** Customer, truck and camera as the partner names them. */
  @Column('text', { name: 'customer_id' })
  customerId!: string;

  @Column('text', { name: 'truck_id' })
  truckId!: string;

  @Column('text', { name: 'camera_id' })
  cameraId!: string;

  @Column('timestamptz', { name: 'start_time' })
  startTime!: Date;

  @Column('timestamptz', { name: 'end_time' })
  endTime!: Date;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt!: Date;
}
