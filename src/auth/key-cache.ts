import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { ApiContract } from '../contracts/common/api-contract.js';
import { Database } from '../database/database.js';
import { inBackground } from '../errors/background.js';
import { findValidKeys, type KnownKeyRow } from './api-key.repository.js';
import { keyPrincipal } from './api-key-row.js';
import type { KeyPrincipal } from './principal.js';

/** A key of this age is read again in the background. */
const REFRESH_MS = 2000;

/** Maximum age of a cached key: revoking takes effect on every instance within 5 s (decision 17). */
const MAX_AGE_MS = 4000;

const MAX_KEYS = 10_000;

interface Entry {
  readonly key: KnownKey;
  /** Start of the query, which is before the key was read. */
  readonly requestedAt: number;
}

/** The part of an issued key that the hot path needs. */
export interface KnownKey {
  readonly hash: string;
  readonly principal: KeyPrincipal;
  /** Issued by a rotation and not used yet (decision 17). */
  readonly dormant: boolean;
  /** Epoch milliseconds; 0 for never. */
  readonly lastUsedAt: number;
}

function knownKey(row: KnownKeyRow): KnownKey {
  return {
    hash: row.hash.toString('base64url'),
    principal: keyPrincipal(row),
    dormant: row.dormant,
    lastUsedAt: row.lastUsedAt?.getTime() ?? 0,
  };
}

/** Whether a key is valid for an interface now. A key of another interface is treated as unknown (decision 2). */
export function isValidFor({ principal }: KnownKey, api: ApiContract, now: number): boolean {
  return now < principal.endsAt && (principal.interfaces as ReadonlySet<string>).has(api.name);
}

/**
 * The keys in use, so that a request needs no database query. Unknown keys are not cached, because a key may be issued at
 * any moment.
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
    const age = entry === undefined ? Infinity : this.now() - entry.requestedAt;
    if (entry === undefined || age >= MAX_AGE_MS) return this.read(hash);
    // The next request retries a failed refresh. When the key is too old, a request waits for it and gets its error.
    if (age >= REFRESH_MS) this.read(hash).catch(() => undefined);
    return entry.key;
  }

  /** Removes a key that this instance has changed. Other instances read it again when its age ends. */
  forget(hash: string): void {
    this.entries.delete(hash);
    this.loads.delete(hash);
  }

  private read(hash: string): Promise<KnownKey | undefined> {
    const running = this.loads.get(hash);
    if (running !== undefined) return running;
    const requestedAt = this.now();
    const load = this.load(hash)
      .then((key) => {
        // `forget` was called during the query, so the result may be older than the change.
        if (this.loads.get(hash) !== load) return key;
        if (key === undefined) this.entries.delete(hash);
        else this.entries.set(hash, { key, requestedAt });
        return key;
      })
      .finally(() => {
        if (this.loads.get(hash) === load) this.loads.delete(hash);
      });
    this.loads.set(hash, load);
    return load;
  }
}

type Waiting = Map<string, PromiseWithResolvers<KnownKey | undefined>>;

/**
 * Finds keys by their hashes. Requests that arrive during a query share the next one, so that one connection serves any
 * number of keys, also those that an attacker invents. An ended key is not found, like one that was never issued, because
 * otherwise the time of the refusal would distinguish the two.
 */
@Injectable()
export class KeyLookup {
  private waiting: Waiting = new Map();
  private running = false;

  constructor(private readonly database: Database) {}

  find(hash: string): Promise<KnownKey | undefined> {
    let waiting = this.waiting.get(hash);
    if (waiting === undefined) {
      waiting = Promise.withResolvers();
      this.waiting.set(hash, waiting);
    }
    if (!this.running) inBackground(this.run());
    return waiting.promise;
  }

  private async run(): Promise<void> {
    this.running = true;
    while (this.waiting.size > 0) {
      const batch = this.waiting;
      this.waiting = new Map();
      await this.resolve(batch);
    }
    this.running = false;
  }

  private async resolve(batch: Waiting): Promise<void> {
    try {
      const found = await this.select([...batch.keys()]);
      for (const [hash, { resolve }] of batch) resolve(found.get(hash));
    } catch (error) {
      for (const { reject } of batch.values()) reject(error);
    }
  }

  private async select(hashes: string[]): Promise<Map<string, KnownKey>> {
    const bytes = hashes.map((hash) => Buffer.from(hash, 'base64url'));
    const rows = await this.database.hot.use((session) => findValidKeys(session, bytes));
    return new Map(rows.map(knownKey).map((key) => [key.hash, key]));
  }
}
