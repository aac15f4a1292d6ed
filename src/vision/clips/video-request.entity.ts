import { Column, Entity } from 'typeorm';
import { CameraRangeColumns } from '../recordings/recording.entity.js';
import type { RequestState } from './clip-requests.rules.js';

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
