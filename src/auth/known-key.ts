import type { ApiContract, InterfaceName } from '../contracts/common/api-contract.js';
import { endOf } from './api-key-row.js';
import type { KeyPrincipal } from './principal.js';

/** The part of an issued key that the hot path needs. */
export interface KnownKey {
  readonly hash: string;
  readonly principal: KeyPrincipal;
  /** Epoch milliseconds at which it expires, or its overlap with a successor ends; infinite for most. */
  readonly endsAt: number;
  /** Made by a rotation and not used yet (decision 17). */
  readonly dormant: boolean;
  /** Epoch milliseconds; 0 for never. */
  readonly lastUsedAt: number;
}

export interface KnownKeyRow {
  readonly id: string;
  readonly hash: Buffer;
  readonly prefix: string;
  readonly hauler_id: string | null;
  readonly customer_id: string | null;
  readonly interfaces: InterfaceName[];
  readonly expires_at: Date | null;
  readonly retires_at: Date | null;
  readonly last_used_at: Date | null;
  readonly dormant: boolean;
}

export function knownKey(row: KnownKeyRow): KnownKey {
  const endsAt = endOf({ expiresAt: row.expires_at, retiresAt: row.retires_at });
  return {
    hash: row.hash.toString('base64url'),
    principal: {
      keyId: row.id,
      keyPrefix: row.prefix,
      haulerId: row.hauler_id,
      customerId: row.customer_id,
      interfaces: new Set(row.interfaces),
      endsAt,
    },
    endsAt,
    dormant: row.dormant,
    lastUsedAt: row.last_used_at?.getTime() ?? 0,
  };
}

/** Whether a key lets its holder into an interface now; one that is good elsewhere is no key here (decision 2). */
export function opens(key: KnownKey, api: ApiContract, now: number): boolean {
  return now < key.endsAt && (key.principal.interfaces as ReadonlySet<string>).has(api.name);
}
