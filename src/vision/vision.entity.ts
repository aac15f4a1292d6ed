import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { RequestState } from './clips/clip-requests.rules.js';
import type { RecordingState } from './recordings/recording.rules.js';

/** The columns that requests and recordings have in common. Customer, truck and camera have the partner's names. */
class CameraRangeColumns {
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

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt!: Date;
}

/** The columns of a recording that the admin API shows. The others belong to its download. */
@Entity('recordings')
export class RecordingEntity extends CameraRangeColumns {
  @Column('text')
  source!: 'on-demand' | 'continuous';

  @Column('text', { name: 'partner_recording_id' })
  partnerRecordingId!: string;

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

  /** A bigint, as text. */
  @Column('bigint', { name: 'size_bytes', nullable: true })
  sizeBytes!: string | null;

  @Column('text', { nullable: true })
  sha256!: string | null;
}

/** A request for on-demand video. Its state follows from its parts. */
@Entity('video_requests')
export class VideoRequestEntity extends CameraRangeColumns {
  @Column('text')
  status!: RequestState;

  @Column('text', { nullable: true })
  reason!: string | null;

  @Column('timestamptz', { name: 'deadline_at' })
  deadlineAt!: Date;
}
