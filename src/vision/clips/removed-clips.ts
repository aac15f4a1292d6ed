import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Retention } from '../recordings/retention.job.js';
import { ClipsRepository, recordClipEvent } from './clips.repository.js';

/** Changes a video request whose file retention has deleted. */
@Injectable()
export class RemovedClips implements OnModuleInit {
  constructor(
    private readonly retention: Retention,
    private readonly clips: ClipsRepository,
  ) {}

  onModuleInit(): void {
    this.retention.useClips(async (manager, { haulerId, partId, recordingId, reason }) => {
      await this.clips.markRemoved(manager, haulerId, partId);
      await recordClipEvent(manager, { haulerId, id: partId }, { kind: 'state', text: reason, recordingId });
      await this.clips.updatePartFromClips(manager, haulerId, partId);
    });
  }
}
