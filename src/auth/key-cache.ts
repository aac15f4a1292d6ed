import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { ApiContract } from '../contracts/common/api-contract.js';
import { Database } from '../core/database/database.js';
import { findValidKeys, type KnownKeyRow } from './api-key.repository.js';
import { keyPrincipal } from './api-key.js';
import type { KeyPrincipal } from '../core/http/principal.js';
import { BatchedLookup } from './batched-lookup.js';

/** A key of this age is read again in the background. */
const REFRESH_MS = 2000;

/** Maximum age of a cached key: revoking takes effect on every instance within 5 s (decision 17). */
const MAX_AGE_MS = 4000;

const MAX_KEYS = 10_000;

/** How long an unknown key is refused without a query. Keys are random: nobody sends one before it is issued. */
const UNKNOWN_MS = 1000;

/** The part of an issued key that the hot path needs. */
export interface KnownKey {
  readonly hash: string;
  readonly principal: KeyPrincipal;
  /** Issued by a rotation and not used yet (decision 17). */
  readonly dormant: boolean;
  /** Epoch milliseconds; 0 for never. */
  readonly lastUsedAt: number;
}

export function knownKey(row: KnownKeyRow): KnownKey {
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

/** The keys in use, so that a request needs no database query, and the unknown keys of the last second. */
export class KeyCache {
  private readonly entries: LRUCache<string, KnownKey>;
  /** Apart, so that a flood of them displaces no key in use. */
  private readonly unknown: LRUCache<string, true>;

  constructor(
    load: (hash: string) => Promise<KnownKey | undefined>,
    /** Monotonic clock, in milliseconds. */
    now: () => number = () => performance.now(),
  ) {
    const limits = { max: MAX_KEYS, ttlResolution: 0, perf: { now } };
    this.unknown = new LRUCache({ ...limits, ttl: UNKNOWN_MS });
    this.entries = new LRUCache({
      ...limits,
      ttl: MAX_AGE_MS,
      // A refresh that fails leaves the entry until it is too old.
      noDeleteOnFetchRejection: true,
      // The result of a query during which `forget` was called may be older than the change: its requests get it, the cache does not.
      ignoreFetchAbort: true,
      fetchMethod: async (hash, _entry, { options, signal }) => {
        const requestedAt = now();
        const key = await load(hash);
        if (key === undefined && !signal.aborted) this.unknown.set(hash, true);
        // The age begins with the query, which is before the key was read. 0 would be no limit.
        options.ttl = Math.max(1, MAX_AGE_MS - (now() - requestedAt));
        return key;
      },
    });
  }

  find(hash: string): KnownKey | undefined | Promise<KnownKey | undefined> {
    const key = this.entries.get(hash);
    if (key === undefined) return this.unknown.has(hash) ? undefined : this.entries.fetch(hash);
    if (this.entries.getRemainingTTL(hash) <= MAX_AGE_MS - REFRESH_MS) this.refresh(hash);
    return key;
  }

  /** Removes a key that this instance has changed. Other instances read it again when its age ends. */
  forget(hash: string): void {
    this.entries.delete(hash);
    this.unknown.delete(hash);
  }

  /** The next request retries a failed refresh. When the key is too old, a request waits for it and gets its error. */
  private refresh(hash: string): void {
    const refreshed = this.entries.fetch(hash, { forceRefresh: true });
    const removeUnknown = () => {
      if (this.unknown.has(hash)) this.entries.delete(hash);
    };
    refreshed.then(removeUnknown, () => undefined);
  }
}

/**
 * Finds keys by their hashes. An ended key is not found, like one that was never issued, because otherwise the time of the
 * refusal would distinguish the two.
 */
@Injectable()
export class KeyLookup extends BatchedLookup<KnownKey> {
  constructor(database: Database) {
    super(async (hashes) => {
      const rows = await findValidKeys(database.hot, hashes);
      return rows.map(knownKey).map((key) => [key.hash, key]);
    });
  }
}
