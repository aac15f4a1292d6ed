import { Inject, Injectable } from '@nestjs/common';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import type { IssuedApiKey, RotateApiKeyRequest } from '../contracts/admin/api-keys.routes.js';
import { ENV, type ResolvedEnv } from '../core/config/env.js';
import { Database } from '../core/database/database.js';
import type { Sql } from '../core/database/sql.js';
import { apiError, invalid } from '../core/errors/app-error.js';
import { createKey } from './api-key.js';
import type { ApiKeyEntity } from './auth.entity.js';
import {
  activateKey,
  findKey,
  insertKey,
  lockConnection,
  lockWithSuccessors,
  revokeDormant,
} from './api-key.repository.js';
import { endOf, expiryOf, expiryViolations, issuedKey, newKeyRow } from './api-key.js';
import { KeyCache, type KnownKey } from './key-cache.js';

/** How long the old key stays valid after the first use of the new one: 24 h. */
const DEFAULT_OVERLAP_SECONDS = 86_400;

/** Replaces keys without a gap (decision 17). */
@Injectable()
export class KeyRotation {
  constructor(
    private readonly database: Database,
    private readonly cache: KeyCache,
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'CELL'>,
  ) {}

  /**
   * Issues the successor of a key. It is dormant until its first use. An earlier successor that was never used is revoked.
   * The old key stays valid for `overlapSeconds` (0 to 604800) after that first use. Rotating a dormant key replaces it.
   * Throws `notFound`, `conflict` for a key that is revoked or has expired, and `invalid` for an `expiresAt` of the past.
   */
  async rotate(id: string, request: RotateApiKeyRequest): Promise<IssuedApiKey> {
    const { overlapSeconds = DEFAULT_OVERLAP_SECONDS } = request;
    const violations = expiryViolations(request, Date.now());
    if (violations.length > 0) throw invalid(violations);
    return await this.database.transaction(async (transaction) => {
      const key = await lockKey(transaction, id);
      const replacesId = isDormant(key) ? key.replacesId : key.id;
      // No cache entry has to be removed: a dormant key is activated, and so read, before it is accepted.
      await revokeDormant(transaction, replacesId);
      const created = createKey(this.env.CELL);
      const row = {
        ...newKeyRow(created, { ...key, expiresAt: expiryOf(request) ?? key.expiresAt }),
        replacesId,
        rootId: key.rootId ?? key.id,
        overlapSeconds,
      };
      await insertKey(transaction, row);
      return issuedKey(created, row);
    });
  }

  /**
   * Records the first use of a dormant key, at which the overlap of the old key begins. Only the first instance changes
   * anything. Returns false if the key was replaced or revoked meanwhile.
   */
  async activate(key: KnownKey): Promise<boolean> {
    const { alive, retired } = await this.database.transaction((transaction) => activateRow(transaction, key));
    this.cache.forget(key.hash);
    if (retired !== undefined) this.cache.forget(retired);
    return alive;
  }
}

/**
 * Locks a key and its successors, oldest first as in every statement, and returns the key. Throws if it cannot be rotated.
 */
async function lockKey(transaction: Sql, id: string): Promise<ApiKeyEntity> {
  const found = await requiredKey(transaction, id);
  if (found.connectionId !== null) await lockConnection(transaction, found.connectionId);
  const root = isDormant(found) ? found.replacesId : found.id;
  await lockWithSuccessors(transaction, root);
  const key = await requiredKey(transaction, id);
  if (key.revokedAt !== null) throw apiError(ADMIN_API, 'conflict', 'the key is revoked: issue a new one');
  if (endOf(key) <= Date.now()) throw apiError(ADMIN_API, 'conflict', 'the key has expired: issue a new one');
  return key;
}

async function requiredKey(transaction: Sql, id: string): Promise<ApiKeyEntity> {
  const key = await findKey(transaction, id);
  if (key === undefined) throw apiError(ADMIN_API, 'notFound', `there is no API key ${id}`);
  return key;
}

function isDormant(key: ApiKeyEntity): boolean {
  return key.replacesId !== null && key.activatedAt === null;
}

async function activateRow(transaction: Sql, key: KnownKey): Promise<{ alive: boolean; retired?: string }> {
  const { keyId } = key.principal;
  const activated = await activateKey(transaction, keyId);
  if (activated === false) {
    const row = await findKey(transaction, keyId);
    return { alive: row?.revokedAt === null };
  }
  const hash = activated.retired?.toString('base64url');
  return { alive: true, ...(hash === undefined ? {} : { retired: hash }) };
}
