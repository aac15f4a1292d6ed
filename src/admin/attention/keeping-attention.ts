import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { HeldRiskRow } from '../../vision/holds/held-footage.repository.js';
import { Holds } from '../../vision/holds/holds.service.js';
import { Retention } from '../../vision/recordings/retention.job.js';
import { consolePage, counted, number, type Notice } from './attention.rules.js';
import { AttentionService } from './attention.service.js';

/** Whether what must be kept is kept, and what must be deleted is deleted. */
@Injectable()
export class KeepingAttention implements OnModuleInit {
  constructor(
    private readonly attention: AttentionService,
    private readonly holds: Holds,
    private readonly retention: Retention,
  ) {}

  onModuleInit(): void {
    this.attention.add([
      { kinds: ['held-at-risk'], find: async () => (await this.holds.atRisk()).map(heldNotice) },
      { kinds: ['retention-stopped'], find: () => Promise.resolve(this.stopped()) },
    ]);
  }

  private stopped(): Notice[] {
    const { trouble } = this.retention;
    if (trouble === undefined) return [];
    const sentence = `Stored video is not deleted by age: ${trouble.message.replace(/\.$/, '')}. Nothing that a hold keeps was deleted; the next run follows within an hour.`;
    const page = consolePage('recordings', {});
    const { since } = trouble;
    return [
      { kind: 'retention-stopped', severity: 'soon', count: 1, subject: 'video retention', since, sentence, page },
    ];
  }
}

function heldNotice(row: HeldRiskRow): Notice {
  const { count, lost, cases, deadline, since, truck_id: truckId, connection_id: connectionId } = row;
  const ended = lost === 0 ? '' : ` ${number(lost)} of them ended without a file.`;
  return {
    kind: 'held-at-risk',
    severity: 'now',
    count,
    haulerId: row.hauler_id,
    connection: { id: connectionId, interface: 'vision' },
    subject: truckId,
    since,
    deadline,
    sentence: `${counted(count, 'recording')} of ${truckId} that a hold needs (${cases.slice(0, 5).join(', ')}) ${count === 1 ? 'is' : 'are'} not stored, and may be lost at the partner.${ended}`,
    page: consolePage('recordings', { connectionId, truckId }),
    action: {
      title: 'Fetch its recordings now',
      method: 'POST',
      path: '/recordings/retry',
      body: { connectionId, truckId },
    },
  };
}
