import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { DataSource } from 'typeorm';
import { ENV, type SettledEnv } from '../config/env.js';
import type { PartnerConnection } from './partner-connection.js';
import { openKey, sealKey } from './sealed-keys.js';

/** One slot of a connection (decision 18). */
export interface KeySlot {
  readonly sealed: string;
  readonly key: string;
  readonly isNext: boolean;
}

/** The two key slots of connections: sealed in the database, open only here and in the header of a call. */
@Injectable()
export class ConnectionKeys {
  /** Next keys that have worked, for connections that were loaded before their promotion. */
  private readonly promoted = new LRUCache<string, true>({ max: 10_000 });

  constructor(
    private readonly dataSource: DataSource,
    @Inject(ENV) private readonly env: Pick<SettledEnv, 'SECRETS_KEY'>,
  ) {}

  seal(connectionId: string, key: string): string {
    return sealKey(this.env.SECRETS_KEY, connectionId, key);
  }

  /** The slots in the order in which they are tried. Throws `SealBroken`. */
  slots({ id, sealedKey, sealedNextKey }: PartnerConnection): KeySlot[] {
    const slot = (sealed: string, isNext: boolean) => ({
      sealed,
      key: openKey(this.env.SECRETS_KEY, id, sealed),
      isNext,
    });
    const current = slot(sealedKey, false);
    if (sealedNextKey === null) return [current];
    const next = slot(sealedNextKey, true);
    return this.promoted.has(next.sealed) ? [next, current] : [current, next];
  }

  /**
   * The next key has worked where the current one did not: it is the current one from now on, on every instance. Unless an
   * admin has saved another one meanwhile, which nobody has refused.
   */
  async promote({ id, haulerId, sealedKey }: PartnerConnection, { sealed }: KeySlot): Promise<void> {
    if (this.promoted.has(sealed)) return;
    const [, promoted] = await this.dataSource.query<[unknown[], number]>(
      `UPDATE connections SET sealed_key = sealed_next_key, sealed_next_key = NULL, updated_at = now()
       WHERE hauler_id = $1 AND id = $2 AND sealed_next_key = $3 AND sealed_key = $4`,
      [haulerId, id, sealed, sealedKey],
    );
    if (promoted > 0) this.promoted.set(sealed, true);
  }
}
