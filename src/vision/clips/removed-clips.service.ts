import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Sql } from '../../core/database/sql.js';
import { Retention } from '../recordings/retention.job.js';
import { ClipsRepository, recordClipEvent } from './clips.repository.js';

/** Changes a video request whose clips retention has deleted, or an erasure. */
@Injectable()
export class RemovedClips implements OnModuleInit {
  constructor(
    private readonly retention: Retention,
    private readonly clips: ClipsRepository,
  ) {}

  onModuleInit(): void {
    this.retention.useClips(async (transaction, { haulerId, partId, recordingId, reason }) => {
      await this.clips.markRemoved(transaction, haulerId, partId);
      await recordClipEvent(transaction, { haulerId, id: partId }, { kind: 'state', text: reason, recordingId });
      await this.clips.updatePartFromClips(transaction, haulerId, partId);
    });
  }

  /** The part ends when none of its clips is left. */
  async erased(transaction: Sql, haulerId: string, partId: string, erasureId: string): Promise<void> {
    const part = await this.clips.lockPart(transaction, haulerId, partId);
    if (part === undefined) return;
    if (part.hasClips) return this.clips.updatePartFromClips(transaction, haulerId, partId);
    if (part.status === 'expired' || part.status === 'failed') return;
    await this.clips.transition(transaction, part, 'expired', `The footage was erased (erasure ${erasureId}).`);
  }
}
