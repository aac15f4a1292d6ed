import { epochMillis, type Instant } from '../contracts/common/instant.js';
import { present } from '../contracts/common/present.js';
import type { Violation } from '../contracts/common/violation.js';
import { ApiKey, type IssuedApiKey } from '../contracts/admin/api-key.dto.js';
import { uuidv7 } from '../core/database/uuid.js';
import type { NewKey } from './api-key.js';
import type { ApiKeyEntity } from './auth.entity.js';
import type { KeyPrincipal } from '../core/http/principal.js';

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
