import { Injectable, type OnModuleInit } from '@nestjs/common';
import { lockedHaulers } from '../../auth/haulers.repository.js';
import { Database } from '../../database/database.js';
import { consolePage, type Notice } from './attention.rules.js';
import { AttentionService } from './attention.service.js';

/** Haulers that are locked for a move to another cell: a command that was killed leaves them so. */
@Injectable()
export class MoveAttention implements OnModuleInit {
  constructor(
    private readonly attention: AttentionService,
    private readonly database: Database,
  ) {}

  onModuleInit(): void {
    this.attention.add([{ kinds: ['locked-haulers'], find: () => this.find() }]);
  }

  private async find(): Promise<Notice[]> {
    return (await lockedHaulers(this.database)).map(({ hauler_id: haulerId, exported_at: exportedAt, since }) => ({
      kind: 'locked-haulers',
      severity: 'now',
      count: 1,
      haulerId,
      subject: 'move to another cell',
      since,
      sentence:
        exportedAt === null
          ? 'Its pushes are 503 while it is exported. If no hauler export runs, run it again, or hauler unlock.'
          : 'It was exported, and its pushes are 503. Import it into the other cell and run hauler release here, or hauler unlock.',
      page: consolePage('haulers', {}),
    }));
  }
}
