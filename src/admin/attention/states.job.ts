import { isDeepStrictEqual } from 'node:util';
import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { type TopicName, TOPIC_NAMES, topicOf } from '../../contracts/webhooks/topics.js';
import { Database } from '../../database/database.js';
import { isDatabaseUnavailable } from '../../database/postgres-errors.js';
import { Sweep } from '../../database/sweep.js';
import { insertDelivery } from '../../webhooks/deliveries.repository.js';
import { DeliveryJob } from '../../webhooks/delivery.job.js';
import { StateReader } from '../../webhooks/state-reader.service.js';
import { announcedStates, deleteStates, lockStates, stateEndpoints, storeStates } from './states.repository.js';
import { changesOf, type Family } from './states.rules.js';

const INTERVAL_MS = 15_000;

/** Announced by one run; the others are announced by the next one. */
const MAX_SENT = 2_000;

/** The next interval goes on. */
const MAX_AGAIN = 3;

const STATE_TOPICS = TOPIC_NAMES.filter((name) => topicOf(name).isState === true);
const familyOf = (topic: TopicName) => topic.split('.')[0] as Family;

/**
 * Announces the states that last, once for each change: they are compared with what was announced before, in the transaction
 * that stores both. A state needs no event of its own, so a service that was killed or away misses none that still lasts.
 */
@Injectable()
export class StatesJob implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Webhooks');
  private readonly announcing = new Sweep((stopping) => this.run(stopping));

  constructor(
    private readonly database: Database,
    private readonly reader: StateReader,
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

  /** Looks before the transaction, which has one connection. False if what was announced has changed since: look again. */
  private async announce(): Promise<boolean> {
    const endpoints = await stateEndpoints(this.database, STATE_TOPICS);
    if (endpoints.length === 0) return true;
    const before = await announcedStates(this.database);
    const topics = endpoints.flatMap((endpoint) => endpoint.topics).filter((topic) => STATE_TOPICS.includes(topic));
    const families = new Set(topics.map(familyOf));
    const seen = await this.reader.read(
      families,
      before.map(({ subject }) => subject),
    );
    const changes = changesOf(endpoints, before, seen);
    if (changes.sent.length > MAX_SENT) {
      changes.announced.splice(MAX_SENT);
      changes.sent.splice(MAX_SENT);
      changes.ended.splice(0);
    }
    return this.database.transaction(async (transaction) => {
      if (!(await lockStates(transaction))) return true;
      // Another instance has announced, or an endpoint was switched on or off.
      if (!isDeepStrictEqual(await announcedStates(transaction), before)) return false;
      for (const { endpointId, topic, data } of changes.sent) {
        await insertDelivery(transaction, endpointId, { topic, data });
      }
      await storeStates(transaction, changes.announced);
      await deleteStates(transaction, changes.ended);
      return true;
    });
  }
}
