import { Logger } from '@nestjs/common';
import type { IncrementResponse, Store } from 'express-rate-limit';
import { LRUCache } from 'lru-cache';
import type { Querying } from '../database/sql.js';
import { inBackground } from '../errors/background.js';
import { addRequests } from './request-counts.repository.js';

const MINUTE_MS = 60_000;

/** How soon the other instances know of a request. */
const FLUSH_MS = 1_000;

const MAX_KEYS = 10_000;

interface Minute {
  /** As the database had it last, this instance's requests included. */
  shared: number;
  /** Counted here and not written yet. */
  unwritten: number;
  endsAt: number;
}

/**
 * Counts the requests of keys over all instances: in memory, so that no request waits, and each second in the database. While
 * the database is away each instance counts alone.
 */
export class SharedCounts implements Store {
  private readonly logger = new Logger('RateLimit');
  private readonly minutes = new LRUCache<string, Minute>({ max: MAX_KEYS });
  private readonly written = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private isFailing = false;

  constructor(private readonly database: Querying) {}

  increment(keyId: string): IncrementResponse {
    const now = Date.now();
    let minute = this.minutes.get(keyId);
    // A clock that steps back would make a minute last for hours.
    if (minute === undefined || now >= minute.endsAt || minute.endsAt - now > MINUTE_MS + FLUSH_MS) {
      minute = { shared: 0, unwritten: 0, endsAt: now + MINUTE_MS };
      this.minutes.set(keyId, minute);
    }
    minute.unwritten += 1;
    this.written.add(keyId);
    this.timer ??= setTimeout(() => inBackground(this.flush()), FLUSH_MS).unref();
    return { totalHits: minute.shared + minute.unwritten, resetTime: new Date(minute.endsAt) };
  }

  decrement(keyId: string): void {
    const minute = this.minutes.get(keyId);
    if (minute !== undefined) minute.unwritten -= 1;
  }

  resetKey(keyId: string): void {
    this.minutes.delete(keyId);
  }

  /** Writes what is counted, and reads what the other instances have counted. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const sent = [...this.written].flatMap((keyId) => {
      const minute = this.minutes.get(keyId);
      return minute === undefined || minute.unwritten === 0 ? [] : [{ keyId, minute, requests: minute.unwritten }];
    });
    this.written.clear();
    if (sent.length === 0) return;
    try {
      const rows = await addRequests(
        this.database,
        sent.map(({ keyId, requests }) => [keyId, requests] as const),
      );
      const byKey = new Map(rows.map((row) => [row.keyId, row]));
      for (const { keyId, minute, requests } of sent) {
        const row = byKey.get(keyId);
        if (row === undefined) continue;
        minute.unwritten -= requests;
        minute.shared = row.requests;
        minute.endsAt = Date.now() + row.endsInMs;
      }
      this.isFailing = false;
    } catch (err) {
      // The counts stay in memory. They are written with the next request of the key.
      if (!this.isFailing) this.logger.warn({ err }, 'cannot count requests over all instances: each counts alone');
      this.isFailing = true;
      for (const { keyId } of sent) this.written.add(keyId);
    }
  }
}
