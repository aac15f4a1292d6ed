import { LRUCache } from 'lru-cache';

/** Reading takes at most this part of the time of one connection. */
const MIN_TIMES = 20;

/** Keeps what was read for some time: at least twenty times as long as it took to read. Callers at the same time share one reading. */
export class Kept {
  private readonly values = new LRUCache<string, Promise<unknown>>({ max: 5_000 });

  has(key: string): boolean {
    return this.values.has(key);
  }

  get<T>(key: string, keepMs: number, read: () => Promise<T>): Promise<T> {
    const kept = this.values.get(key) as Promise<T> | undefined;
    if (kept !== undefined) return kept;
    const begin = Date.now();
    const value = read();
    this.values.set(key, value);
    value.then(
      () => this.values.set(key, value, { ttl: Math.max(keepMs, MIN_TIMES * (Date.now() - begin)) }),
      () => this.values.delete(key),
    );
    return value;
  }
}
