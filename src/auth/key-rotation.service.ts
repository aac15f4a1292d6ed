import { Inject, Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import type { IssuedApiKey, RotateApiKeyRequest } from '../contracts/admin/api-key.dto.js';
import { ENV, type ResolvedEnv } from '../config/env.js';
import { inTransaction } from '../database/transaction.js';
import { apiError, invalid } from '../errors/app-error.js';
import { createKey } from './api-key.js';
import { ApiKeyEntity } from './auth.entity.js';
import { activateKey, lockConnection, lockWithSuccessors, revokeDormant } from './api-key.repository.js';
import { endOf, expiryOf, expiryViolations, issuedKey, newKeyRow } from './api-key-row.js';
import { KeyCache, type KnownKey } from './key-cache.js';

/** How long the old key stays valid after the first use of the new one: 24 h. */
const DEFAULT_OVERLAP_SECONDS = 86_400;

/** Replaces keys without a gap (decision 17). */
@Injectable()
export class KeyRotation {
  constructor(
    private readonly dataSource: DataSource,
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
    return await inTransaction(this.dataSource, async (manager) => {
      const key = await lockKey(manager, id);
      const replacesId = isDormant(key) ? key.replacesId : key.id;
      // No cache entry has to be removed: a dormant key is activated, and so read, before it is accepted.
      await revokeDormant(manager, replacesId);
      const created = createKey(this.env.CELL);
      const row = {
        ...newKeyRow(created, { ...key, expiresAt: expiryOf(request) ?? key.expiresAt }),
        replacesId,
        overlapSeconds,
      };
      await manager.insert(ApiKeyEntity, row);
      return issuedKey(created, row);
    });
  }

  /**
   * Records the first use of a dormant key, at which the overlap of the old key begins. Only the first instance changes
   * anything. Returns false if the key was replaced or revoked meanwhile.
   */
  async activate(key: KnownKey): Promise<boolean> {
    const { alive, retired } = await inTransaction(this.dataSource, (manager) => activateRow(manager, key));
    this.cache.forget(key.hash);
    if (retired !== undefined) this.cache.forget(retired);
    return alive;
  }
}

/**
 * Locks a key and its successors, oldest first as in every statement, and returns the key. Throws if it cannot be rotated.
 */
async function lockKey(manager: EntityManager, id: string): Promise<ApiKeyEntity> {
  const found = await manager.findOneBy(ApiKeyEntity, { id });
  if (found === null) throw apiError(ADMIN_API, 'notFound', `there is no API key ${id}`);
  if (found.connectionId !== null) await lockConnection(manager, found.connectionId);
  const root = isDormant(found) ? found.replacesId : found.id;
  await lockWithSuccessors(manager, root);
  const key = await manager.findOneByOrFail(ApiKeyEntity, { id });
  if (key.revokedAt !== null) throw apiError(ADMIN_API, 'conflict', 'the key is revoked: issue a new one');
  if (endOf(key) <= Date.now()) throw apiError(ADMIN_API, 'conflict', 'the key has expired: issue a new one');
  return key;
}

function isDormant(key: ApiKeyEntity): boolean {
  return key.replacesId !== null && key.activatedAt === null;
}

async function activateRow(manager: EntityManager, key: KnownKey): Promise<{ alive: boolean; retired?: string }> {
  const { keyId } = key.principal;
  const activated = await activateKey(manager, keyId);
  if (activated === false) {
    const row = await manager.findOneBy(ApiKeyEntity, { id: keyId });
    return { alive: row !== null && row.revokedAt === null };
  }
  const hash = activated.retired?.toString('base64url');
  return { alive: true, ...(hash === undefined ? {} : { retired: hash }) };
}
