import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { RequestState } from './request-states.js';

/** What an admin has asked for; it stands where its parts do. */
@Entity('video_requests')
export class VideoRequestEntity {
  @PrimaryColumn('uuid', { name: 'hauler_id' })
  haulerId!: string;

  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid', { name: 'connection_id' })
  connectionId!: string;

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

  @Column('text')
  status!: RequestState;

  @Column('text', { nullable: true })
  reason!: string | null;

  @Column('timestamptz', { name: 'deadline_at' })
  deadlineAt!: Date;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt!: Date;
}
