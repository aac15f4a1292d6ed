import { isDeepStrictEqual } from 'node:util';
import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { TOPIC_NAMES, topicOf } from '../../contracts/webhooks/topics.values.js';
import { Database } from '../../core/database/database.js';
import { isDatabaseUnavailable } from '../../core/database/postgres-errors.js';
import { Sweep } from '../../core/database/sweep.js';
import { insertDelivery } from '../../webhooks/deliveries.repository.js';
import { DeliveryJob } from '../../webhooks/delivery.job.js';
import { AttentionService } from './attention.service.js';
import { announcedStates, connectionStates, lockStates, stateEndpoints, storeChanges } from './states.repository.js';
import { ANNOUNCED_KINDS, changesOf, endedConnections } from './states.rules.js';

const INTERVAL_MS = 15_000;

/** Of one transaction. */
const MAX_CHANGES = 2_000;

/** The next interval goes on. */
const MAX_AGAIN = 3;

const STATE_TOPICS = TOPIC_NAMES.filter((name) => topicOf(name).isState === true);

/**
 * Announces the changes of what needs attention, once each: two looks are compared, in the transaction that stores what was
 * announced. A state needs no event of its own, so a service that was killed or away misses none that still lasts.
 */
@Injectable()
export class StatesJob implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Webhooks');
  private readonly announcing = new Sweep((stopping) => this.run(stopping));

  constructor(
    private readonly database: Database,
    private readonly attention: AttentionService,
    private readonly deliveries: DeliveryJob,
  ) {}

  @Interval('webhook states', INTERVAL_MS)
  async regularly(): Promise<void> {
    try {
      await this.announcing.run();
    } catch (err) {
      if (!isDatabaseUnavailable(err)) this.logger.error({ err }, 'cannot announce states');
    }
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.announcing.stop();
  }

  /** Does nothing while another instance does it. */
  async run(stopping?: AbortSignal): Promise<void> {
    let attempts = 0;
    while (stopping?.aborted !== true && !(await this.announce()) && attempts < MAX_AGAIN) attempts++;
    this.deliveries.runDue();
  }

  /**
   * Looks before the transaction, which has one connection. False if another look is needed: there are more changes, or what was
   * announced has changed since.
   */
  private async announce(): Promise<boolean> {
    const endpoints = await stateEndpoints(this.database, STATE_TOPICS);
    if (endpoints.length === 0) return true;
    const before = await announcedStates(this.database);
    const { notices, checked } = await this.attention.lookAtKinds(ANNOUNCED_KINDS);
    const connections = await connectionStates(this.database, endedConnections(before, notices));
    const known = new Set(checked.filter(({ ok }) => ok).map(({ kind }) => kind));
    const all = changesOf(endpoints, before, { notices, checked: known, connections });
    if (all.length === 0) return true;
    const changes = all.slice(0, MAX_CHANGES);
    return this.database.transaction(async (transaction) => {
      if (!(await lockStates(transaction))) return true;
      // Another instance has announced, or an endpoint was switched on or off.
      if (!isDeepStrictEqual(await announcedStates(transaction), before)) return false;
      for (const { endpointId, sent } of changes) {
        if (sent !== undefined) await insertDelivery(transaction, endpointId, sent);
      }
      await storeChanges(transaction, changes);
      return changes.length === all.length;
    });
  }
}
