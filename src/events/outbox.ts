import { Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { EventData, TopicName } from '../contracts/webhooks/topics.js';
import type { Querying } from '../database/sql.js';
import { uuidv7 } from '../database/uuid.js';
import { inBackground } from '../errors/background.js';
import { findInterests, insertDeliveries } from './outbox.repository.js';

/** As old as keys in the cache of keys: another instance's endpoint gets events after this time at the latest. */
const REFRESH_MS = 2_000;
const MAX_AGE_MS = 4_000;

/** Events that wait to be written outside of a transaction; further ones are dropped. */
const MAX_WAITING = 10_000;

/** Something happened. */
export interface HappenedEvent {
  readonly topic: TopicName;
  readonly haulerId: string;
  readonly connectionId?: string;
  /** The hauler is added. */
  readonly data: EventData;
}

/** The topics of the enabled endpoints. */
class Interests {
  private readonly keys = new Set<string>();

  constructor(
    rows: Awaited<ReturnType<typeof findInterests>>,
    readonly requestedAt: number,
  ) {
    for (const { haulerId, topics } of rows) for (const topic of topics) this.keys.add(keyOf(topic, haulerId));
  }

  has(topic: string, haulerId: string): boolean {
    return this.keys.size > 0 && (this.keys.has(keyOf(topic, null)) || this.keys.has(keyOf(topic, haulerId)));
  }
}

const keyOf = (topic: string, haulerId: string | null): string => `${topic} ${haulerId ?? ''}`;

/**
 * Writes what happened for the webhook endpoints that ask for it, in the transaction in which it happened. Whether any endpoint
 * asks is known without a query: without one, nothing is written and nothing waits.
 */
@Injectable()
export class Outbox {
  private readonly logger = new Logger('Outbox');
  private interests: Interests | undefined;
  private refreshing: Promise<Interests> | undefined;
  /** How often this instance has changed an endpoint. */
  private changes = 0;
  private waiting: HappenedEvent[] = [];
  private isFlushing = false;

  constructor(private readonly dataSource: DataSource) {}

  /**
   * Whether an endpoint asks for one of the topics, for one of the haulers. A promise only if the cache is older than 4 s. A
   * caller that has a connection passes it as `database`: waiting for another one, it would keep that from others (decision 73).
   */
  wants(topics: readonly TopicName[], haulerIds: readonly string[], database?: Querying): boolean | Promise<boolean> {
    const ask = (interests: Interests) =>
      haulerIds.some((haulerId) => topics.some((topic) => interests.has(topic, haulerId)));
    const known = this.known(database);
    return known instanceof Promise ? known.then(ask) : ask(known);
  }

  /** One statement for all events. `database` is the transaction in which they happened. */
  async write(database: Querying, events: readonly HappenedEvent[]): Promise<void> {
    if (events.length === 0) return;
    const rows = events.map((event) => ({
      ...event,
      id: uuidv7(),
      data: { haulerId: event.haulerId, ...event.data },
    }));
    await insertDeliveries(database, rows);
  }

  /** `write`, for the events that an endpoint asks for. */
  async record(database: Querying, ...events: readonly HappenedEvent[]): Promise<void> {
    if (events.length === 0) return;
    const interests = await this.known(database);
    await this.write(
      database,
      events.filter(({ topic, haulerId }) => interests.has(topic, haulerId)),
    );
  }

  /** For an event of which nothing is stored, such as a refusal: it is written soon, many in one statement. */
  writeSoon(event: HappenedEvent): void {
    if (this.waiting.length < MAX_WAITING) this.waiting.push(event);
    inBackground(this.flush());
  }

  /** This instance has changed an endpoint. */
  forget(): void {
    this.interests = undefined;
    this.refreshing = undefined;
    this.changes++;
  }

  private async flush(): Promise<void> {
    if (this.isFlushing) return;
    this.isFlushing = true;
    try {
      while (this.waiting.length > 0) await this.write(this.dataSource, this.waiting.splice(0, 500));
    } catch (err) {
      this.logger.warn({ err }, 'cannot store events of webhooks');
    } finally {
      this.isFlushing = false;
    }
  }

  private known(database?: Querying): Interests | Promise<Interests> {
    const age = this.interests === undefined ? Infinity : performance.now() - this.interests.requestedAt;
    if (this.interests === undefined || age >= MAX_AGE_MS) {
      return database === undefined ? this.refresh() : this.load(database);
    }
    // The next call retries a refresh that failed. When the cache is too old, the call waits for it and gets its error.
    if (age >= REFRESH_MS) this.refresh().catch(() => undefined);
    return this.interests;
  }

  private refresh(): Promise<Interests> {
    return (this.refreshing ??= this.load(this.dataSource).finally(() => (this.refreshing = undefined)));
  }

  private async load(database: Querying): Promise<Interests> {
    const { changes } = this;
    const requestedAt = performance.now();
    const found = new Interests(await findInterests(database), requestedAt);
    // Else `forget` was called during the query.
    if (changes === this.changes) this.interests = found;
    return found;
  }
}
