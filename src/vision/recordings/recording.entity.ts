import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { RecordingState } from '../downloads/recording-states.js';

/** What is shown of a recording. Its link and its due-row columns belong to its download. */
@Entity('recordings')
export class RecordingEntity {
  @PrimaryColumn('uuid', { name: 'hauler_id' })
  haulerId!: string;

  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid', { name: 'connection_id' })
  connectionId!: string;

  @Column('text')
  source!: 'on-demand' | 'continuous';

  @Column('text', { name: 'partner_recording_id' })
  partnerRecordingId!: string;

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

  @Column('integer', { name: 'duration_seconds' })
  durationSeconds!: number;

  @Column('text')
  status!: RecordingState;

  @Column('text', { nullable: true })
  reason!: string | null;

  @Column('text', { name: 'last_error', nullable: true })
  lastError!: string | null;

  @Column('timestamptz', { name: 'expires_at', nullable: true })
  expiresAt!: Date | null;

  /** As text, being a bigint. */
  @Column('bigint', { name: 'size_bytes', nullable: true })
  sizeBytes!: string | null;

  @Column('text', { nullable: true })
  sha256!: string | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt!: Date;
}
