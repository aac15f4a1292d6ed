import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { ApiContract } from '../contracts/common/api-contract.js';
import { Database } from '../database/database.js';
import { BatchedLookup } from './batched-lookup.js';
import { findValidKeys, type KnownKeyRow } from './api-key.repository.js';
import { keyPrincipal } from './api-key-row.js';
import type { KeyPrincipal } from '../http/principal.js';

/** A key of this age is read again in the background. */
const REFRESH_MS = 2000;

/** Maximum age of a cached key: revoking takes effect on every instance within 5 s (decision 17). */
const MAX_AGE_MS = 4000;

const MAX_KEYS = 10_000;

/** How long an unknown key is refused without a query. Keys are random: nobody sends one before it is issued. */
const UNKNOWN_MS = 1000;

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

export function knownKey(row: KnownKeyRow): KnownKey {
  return {
    hash: row.hash.toString('base64url'),
    principal: row.hold === null ? keyPrincipal(row) : { ...keyPrincipal(row), hold: row.hold },
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
  private readonly entries = new LRUCache<string, Entry>({ max: MAX_KEYS });
  /** When the query began that did not find the key. */
  private readonly unknown = new LRUCache<string, number>({ max: MAX_KEYS });
  private readonly loads = new Map<string, Promise<KnownKey | undefined>>();

  constructor(
    private readonly load: (hash: string) => Promise<KnownKey | undefined>,
    /** Monotonic clock, in milliseconds. */
    private readonly now: () => number = () => performance.now(),
  ) {}

  find(hash: string): KnownKey | undefined | Promise<KnownKey | undefined> {
    const entry = this.entries.get(hash);
    const age = entry === undefined ? Infinity : this.now() - entry.requestedAt;
    if (entry === undefined && this.isUnknown(hash)) return undefined;
    if (entry === undefined || age >= MAX_AGE_MS) return this.read(hash);
    // The next request retries a failed refresh. When the key is too old, a request waits for it and gets its error.
    if (age >= REFRESH_MS) this.read(hash).catch(() => undefined);
    return entry.key;
  }

  /** Removes a key that this instance has changed. Other instances read it again when its age ends. */
  forget(hash: string): void {
    this.entries.delete(hash);
    this.unknown.delete(hash);
    this.loads.delete(hash);
  }

  private isUnknown(hash: string): boolean {
    return this.now() - (this.unknown.get(hash) ?? -Infinity) < UNKNOWN_MS;
  }

  private read(hash: string): Promise<KnownKey | undefined> {
    const running = this.loads.get(hash);
    if (running !== undefined) return running;
    const requestedAt = this.now();
    const load = this.load(hash)
      .then((key) => {
        // `forget` was called during the query, so the result may be older than the change.
        if (this.loads.get(hash) !== load) return key;
        if (key !== undefined) {
          this.entries.set(hash, { key, requestedAt });
          return key;
        }
        this.entries.delete(hash);
        this.unknown.set(hash, requestedAt);
        return undefined;
      })
      .finally(() => {
        if (this.loads.get(hash) === load) this.loads.delete(hash);
      });
    this.loads.set(hash, load);
    return load;
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
      const rows = await database.hot.use((session) => findValidKeys(session, hashes));
      return rows.map(knownKey).map((key) => [key.hash, key]);
    });
  }
}
