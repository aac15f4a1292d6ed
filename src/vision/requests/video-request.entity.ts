import { Column, Entity } from 'typeorm';
import { CameraRange } from '../camera-range.columns.js';
import type { RequestState } from './request-states.js';

/** What an admin has asked for; it stands where its parts do. */
@Entity('video_requests')
export class VideoRequestEntity extends CameraRange {
  @Column('text')
  status!: RequestState;

  @Column('text', { nullable: true })
  reason!: string | null;

  @Column('timestamptz', { name: 'deadline_at' })
  deadlineAt!: Date;
}
