import { Column, Entity } from 'typeorm';
import { CameraRange } from '../camera-range.columns.js';
import type { RecordingState } from '../downloads/recording-states.js';

/** What is shown of a recording. Its link and its due-row columns belong to its download. */
@Entity('recordings')
export class RecordingEntity extends CameraRange {
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

  /** As text, being a bigint. */
  @Column('bigint', { name: 'size_bytes', nullable: true })
  sizeBytes!: string | null;

  @Column('text', { nullable: true })
  sha256!: string | null;
}
