import { LRUCache } from 'lru-cache';
import type { KnownKey } from './known-key.js';

/** From this age on a key is read again, behind the request that finds it so. */
const REFRESH_MS = 2000;

/** No key is served from memory beyond this age: revoking takes effect on every instance within 5 s (decision 17). */
const LIMIT_MS = 4000;

const MAX_KEYS = 10_000;

interface Entry {
  readonly key: KnownKey;
  /** When it was asked for, which is before it was read. */
  readonly askedAt: number;
}

/**
 * The keys in use, so that a request costs no round trip to the database. Unknown keys are not remembered: one may be
 * issued the next moment.
 */
export class KeyCache {
  private readonly entries = new LRUCache<string, Entry>({ max: MAX_KEYS });
  private readonly loads = new Map<string, Promise<KnownKey | undefined>>();

  constructor(
    private readonly load: (hash: string) => Promise<KnownKey | undefined>,
    /** Monotonic clock, in milliseconds. */
    private readonly now: () => number = () => performance.now(),
  ) {}

  find(hash: string): KnownKey | Promise<KnownKey | undefined> {
    const entry = this.entries.get(hash);
    const age = entry === undefined ? Infinity : this.now() - entry.askedAt;
    if (entry === undefined || age >= LIMIT_MS) return this.read(hash);
    // A refresh that fails is tried again by the next request; in the end one of them has to wait for it, and hears why.
    if (age >= REFRESH_MS) this.read(hash).catch(() => undefined);
    return entry.key;
  }

  /** Forgets a key that was changed here; other instances learn of it when its age ends. */
  forget(hash: string): void {
    this.entries.delete(hash);
    this.loads.delete(hash);
  }

  private read(hash: string): Promise<KnownKey | undefined> {
    const running = this.loads.get(hash);
    if (running !== undefined) return running;
    const askedAt = this.now();
    const load = this.load(hash)
      .then((key) => {
        // Forgotten while it was being read: what was read may be older than the change.
        if (this.loads.get(hash) !== load) return key;
        if (key === undefined) this.entries.delete(hash);
        else this.entries.set(hash, { key, askedAt });
        return key;
      })
      .finally(() => {
        if (this.loads.get(hash) === load) this.loads.delete(hash);
      });
    this.loads.set(hash, load);
    return load;
  }
}
