import { Global, Injectable, Logger, Module, type OnModuleDestroy } from '@nestjs/common';
import { Database } from '../../core/database/database.js';
import { isDatabaseUnavailable, isLockTimeout } from '../../core/database/postgres-errors.js';
import type { Sql } from '../../core/database/sql.js';
import { uuidv7 } from '../../core/database/uuid.js';
import { inBackground } from '../../core/errors/background.js';
import { type Event, type HappenedEvent, insertEvents, lockTables } from './outbox.repository.js';

/** Events that wait to be written outside of a transaction; further ones are dropped. */
const MAX_WAITING = 10_000;

/** How long the tables of webhooks are left alone after they were found locked, and waiting events after an error. */
const RETRY_MS = 1_000;

/** The rows that `insertDeliveries` and `EVENT` need. */
export const toEvents = (happened: readonly HappenedEvent[]): Event[] =>
  happened.map((event) => ({ ...event, id: uuidv7(), data: { haulerId: event.haulerId, ...event.data } }));

/** Writes what happened for the webhook endpoints that ask for it, in the transaction in which it happened. */
@Injectable()
export class Outbox implements OnModuleDestroy {
  private readonly logger = new Logger('Outbox');
  private waiting: Event[] = [];
  private isFlushing = false;
  private retry: NodeJS.Timeout | undefined;
  private isStopping = false;
  /** By `performance.now()`. */
  private lockedUntil = 0;

  constructor(private readonly database: Database) {}

  /** One statement for all events. `database` is the transaction in which they happened. */
  async record(database: Sql, ...events: readonly HappenedEvent[]): Promise<void> {
    if (events.length > 0) await insertEvents(database, toEvents(events));
  }

  /**
   * Runs `write`, whose statements write their events themselves (`insertDeliveries`) if they are `isAnnounced`. If another
   * transaction has locked the tables of webhooks, nobody waits for it (decision 67): `write` runs without them, and its events
   * follow soon.
   */
  async announce<T>(
    write: (isAnnounced: boolean) => Promise<T>,
    eventsOf: (written: T) => readonly HappenedEvent[],
  ): Promise<T> {
    if (performance.now() >= this.lockedUntil) {
      try {
        return await write(true);
      } catch (error) {
        if (!isLockTimeout(error) || !(await this.areTablesLocked())) throw error;
        this.lockedUntil = performance.now() + RETRY_MS;
      }
    }
    const written = await write(false);
    this.writeSoon(...eventsOf(written));
    return written;
  }

  /** For events of which nothing is stored, such as a refusal: they are written soon, many in one statement. */
  writeSoon(...events: readonly HappenedEvent[]): void {
    this.waiting.push(...toEvents(events.slice(0, MAX_WAITING - this.waiting.length)));
    if (this.retry === undefined) inBackground(this.flush());
  }

  onModuleDestroy(): void {
    this.isStopping = true;
    clearTimeout(this.retry);
  }

  private async flush(): Promise<void> {
    this.retry = undefined;
    if (this.isFlushing || this.waiting.length === 0) return;
    this.isFlushing = true;
    const events = this.waiting.slice(0, 500);
    try {
      await this.database.transaction(async (transaction) => {
        await lockTables(transaction);
        await insertEvents(transaction, events);
      });
      this.waiting.splice(0, events.length);
      setImmediate(() => inBackground(this.flush()));
    } catch (err) {
      if (!isLockTimeout(err)) this.logger.warn({ err }, 'cannot store events of webhooks');
      if (!isDatabaseUnavailable(err)) this.waiting.splice(0, events.length);
      else if (!this.isStopping) this.retry = setTimeout(() => inBackground(this.flush()), RETRY_MS).unref();
    } finally {
      this.isFlushing = false;
    }
  }

  private async areTablesLocked(): Promise<boolean> {
    try {
      await this.database.transaction(lockTables, { pool: 'hot' });
      return false;
    } catch (error) {
      if (isLockTimeout(error)) return true;
      throw error;
    }
  }
}

/** What happens, written for webhook endpoints. Global, because every module of the platform side writes to it. */
@Global()
@Module({ providers: [Outbox], exports: [Outbox] })
export class EventsModule {}
