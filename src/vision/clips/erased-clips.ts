import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ClipsRepository } from './clips.repository.js';

/** Changes a video request whose clips are erased: it ends when none of them is left. */
@Injectable()
export class ErasedClips {
  constructor(private readonly clips: ClipsRepository) {}

  async update(manager: EntityManager, haulerId: string, partId: string, erasureId: string): Promise<void> {
    const part = await this.clips.lockPart(manager, haulerId, partId);
    if (part === undefined) return;
    if (part.hasClips) return this.clips.updatePartFromClips(manager, haulerId, partId);
    if (part.status === 'expired' || part.status === 'failed') return;
    await this.clips.transition(manager, part, 'expired', `The footage was erased (erasure ${erasureId}).`);
  }
}
