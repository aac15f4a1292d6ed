import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { JobsService } from '../jobs/jobs.service.js';
import {
  type ConnectionChange,
  ConnectionsService,
  type ConnectionWork,
} from '../partner-client/connections.service.js';
import { CRAWL } from './continuous/crawl.work.js';
import { WINDOWS } from './continuous/window.work.js';
import { POLL } from './requests/poll.work.js';
import { SUBMIT } from './requests/submit.work.js';

/** In the order in which a round of polls locks: the poll, then parts. */
const READING = ['video_polls', 'video_windows', 'video_subscriptions'];

/** When an admin has mended a connection, or ended its pause, the work of Vision that waited for it is due at once. */
@Injectable()
export class MendedConnections implements OnModuleInit, ConnectionWork {
  constructor(
    private readonly connections: ConnectionsService,
    private readonly jobs: JobsService,
  ) {}

  onModuleInit(): void {
    this.connections.register(this);
  }

  /**
   * A reading that is under way began by what was wrong: it loses its lease. An order that is under way keeps it, for its
   * answer must not be lost.
   */
  async makeDue(manager: EntityManager, { haulerId, id, mended }: ConnectionChange): Promise<void> {
    for (const table of READING) {
      await manager.query(
        `UPDATE ${table} SET due_at = now(), attempts = 0, last_error = NULL, lease_token = NULL, leased_until = NULL
         WHERE hauler_id = $1 AND connection_id = $2 AND due_at IS NOT NULL AND ($3 OR lease_token IS NULL)`,
        [haulerId, id, mended],
      );
    }
    await manager.query(
      `UPDATE video_request_parts SET due_at = now(), attempts = 0, last_error = NULL
       WHERE hauler_id = $1 AND connection_id = $2 AND due_at IS NOT NULL AND status = 'submitting' AND lease_token IS NULL`,
      [haulerId, id],
    );
  }

  wake(): void {
    for (const kind of [SUBMIT, POLL, CRAWL, WINDOWS]) this.jobs.wake(kind);
  }
}
