import { hash, randomBytes } from 'node:crypto';
import { base62, cellOfKey, checksum, MARK, SECRET_DIGITS } from '../core/observability/key-form.js';
import { epochMillis, type Instant } from '../contracts/common/instant.js';
import { present } from '../contracts/common/present.js';
import type { Violation } from '../contracts/common/violation.js';
import { ApiKey, type IssuedApiKey } from '../contracts/admin/api-keys.routes.js';
import { uuidv7 } from '../core/database/uuid.js';
import { ApiKeyEntity } from './auth.entity.js';
import type { KeyPrincipal } from '../core/http/principal.js';

const SECRET_BYTES = 32;

/** Digits of the secret in the prefix of lists: enough to distinguish keys, with 208 secret bits left. */
const SHOWN_DIGITS = 8;

export interface NewKey {
  /** Shown once, never stored. */
  readonly key: string;
  readonly prefix: string;
  readonly hash: Buffer;
}

export function createKey(cell?: string): NewKey {
  const body = cellMark(cell) + base62(BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`), SECRET_DIGITS);
  const key = body + checksum(body);
  return { key, prefix: keyPrefix(key), hash: Buffer.from(hashKey(key), 'base64url') };
}

/** With what the keys of a cell begin, by which a proxy finds it. */
const cellMark = (cell: string | undefined): string => (cell === undefined ? MARK : `${MARK}${cell}_`);

/** The part of a key of the right form that lists show. */
export const keyPrefix = (key: string): string => key.slice(0, cellMark(cellOfKey(key)).length + SHOWN_DIGITS);

/**
 * The SHA-256 of a key, base64url. One fast hash is enough: a slow one protects secrets that can be guessed, and 256
 * random bits cannot. Keys are looked up by this hash, so the time of a lookup reveals nothing about any key.
 */
export function hashKey(key: string): string {
  return hash('sha256', key, 'base64url');
}

/** The fields that the issuer sets. A successor inherits them from the key before it. */
type KeyTerms = Pick<
  ApiKeyEntity,
  'haulerId' | 'connectionId' | 'customerId' | 'allCustomers' | 'interfaces' | 'name' | 'expiresAt'
>;

/** The row of a key that is issued now and has never been used. */
export function newKeyRow({ hash, prefix }: NewKey, terms: KeyTerms): ApiKeyEntity {
  return {
    ...terms,
    id: uuidv7(),
    hash,
    prefix,
    createdAt: new Date(),
    revokedAt: null,
    lastUsedAt: null,
    replacesId: null,
    rootId: null,
    overlapSeconds: null,
    activatedAt: null,
    retiresAt: null,
  };
}

interface Expiring {
  readonly expiresAt?: Instant;
}

/** When a key that is asked for expires; undefined if the request has no time. */
export const expiryOf = ({ expiresAt }: Expiring): Date | undefined =>
  expiresAt === undefined ? undefined : new Date(epochMillis(expiresAt));

export function expiryViolations(request: Expiring, now: number): Violation[] {
  const expiry = expiryOf(request);
  if (expiry === undefined || expiry.getTime() > now) return [];
  return [{ path: 'expiresAt', rule: 'isFuture', message: 'expiresAt must be in the future' }];
}

/** Epoch milliseconds at which a key expires, or at which its overlap with a successor ends. */
export function endOf({ expiresAt, retiresAt }: Pick<ApiKeyEntity, 'expiresAt' | 'retiresAt'>): number {
  return Math.min(expiresAt?.getTime() ?? Infinity, retiresAt?.getTime() ?? Infinity);
}

export type PrincipalRow = Pick<
  ApiKeyEntity,
  'id' | 'prefix' | 'haulerId' | 'connectionId' | 'customerId' | 'interfaces' | 'expiresAt' | 'retiresAt'
>;

/** The caller that a key identifies. */
export function keyPrincipal(row: PrincipalRow): KeyPrincipal {
  const { id: keyId, prefix: keyPrefix, haulerId, connectionId, customerId, interfaces } = row;
  return { keyId, keyPrefix, haulerId, connectionId, customerId, interfaces: new Set(interfaces), endsAt: endOf(row) };
}

/** A key as the admin API returns it. `expiresAt` is the effective end, including the end of a running overlap. */
export function toApiKeyDto(row: ApiKeyEntity): ApiKey {
  const end = endOf(row);
  return present(ApiKey, { ...row, expiresAt: end === Infinity ? null : new Date(end) });
}

/** The only response that contains the key itself. */
export function issuedKey({ key }: NewKey, row: ApiKeyEntity): IssuedApiKey {
  return { ...toApiKeyDto(row), key };
}
