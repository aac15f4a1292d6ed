import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { DataSource } from 'typeorm';
import type { KnownKey } from './key-cache.js';

/** Last use is kept to the minute (decision 17). */
const PRECISION_MS = 60_000;

/** How long uses gather before they are written in one statement. */
const GATHER_MS = 1000;

/** When keys were last used: noted in memory, written behind the requests. */
@Injectable()
export class LastUse implements OnApplicationShutdown {
  private readonly logger = new Logger(LastUse.name);
  private readonly noted = new LRUCache<string, number>({ max: 10_000 });
  private readonly pending = new Map<string, Date>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly dataSource: DataSource) {}

  note(key: KnownKey, now: number): void {
    const { keyId } = key.principal;
    if (now - Math.max(key.lastUsedAt, this.noted.get(keyId) ?? 0) < PRECISION_MS) return;
    this.noted.set(keyId, now);
    this.pending.set(keyId, new Date(now));
    this.timer ??= setTimeout(() => void this.write(), GATHER_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.write();
  }

  private async write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.pending.size === 0) return;
    const uses = [...this.pending];
    this.pending.clear();
    try {
      await this.dataSource.query(
        `UPDATE api_keys
            SET last_used_at = used.at
           FROM unnest($1::uuid[], $2::timestamptz[]) AS used (id, at)
          WHERE api_keys.id = used.id AND (last_used_at IS NULL OR last_used_at < used.at)`,
        [uses.map(([id]) => id), uses.map(([, at]) => at)],
      );
    } catch (err) {
      // No request may fail for this; forgotten, each key notes its next use again.
      for (const [id] of uses) this.noted.delete(id);
      this.logger.warn({ err, keys: uses.length }, 'the last use of keys could not be written');
    }
  }
}
