import { type BeforeApplicationShutdown, Inject, Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { ENV, type ResolvedEnv } from '../core/config/env.js';
import { Database } from '../core/database/database.js';
import { isDatabaseUnavailable } from '../core/database/postgres-errors.js';
import { Sweep } from '../core/database/sweep.js';
import { deleteOld, deleteOldest, overfull } from './deliveries.repository.js';

const INTERVAL_MS = 60_000;

/** Deliveries of one endpoint that are kept. A receiver that is away cannot fill the database. */
export const MAX_DELIVERIES = 100_000;

/** Deletes deliveries by their age, and the oldest of an endpoint that has too many. */
@Injectable()
export class DeliverySweep implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Webhooks');
  private readonly retention = new Sweep((stopping) => this.run(MAX_DELIVERIES, stopping));

  constructor(
    private readonly database: Database,
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'WEBHOOK_RETENTION_DAYS'>,
  ) {}

  @Interval('webhook deliveries', INTERVAL_MS)
  async minutely(): Promise<void> {
    try {
      await this.retention.run();
    } catch (err) {
      if (!isDatabaseUnavailable(err)) this.logger.error({ err }, 'cannot delete old deliveries');
    }
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.retention.stop();
  }

  /** `max`: deliveries that each endpoint keeps. */
  async run(max: number, stopping?: AbortSignal): Promise<void> {
    await deleteOld(this.database, this.env.WEBHOOK_RETENTION_DAYS);
    for (const { id, over } of await overfull(this.database, max)) {
      if (stopping?.aborted !== true) await deleteOldest(this.database, id, over);
    }
  }
}
