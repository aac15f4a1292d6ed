import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ENV, type SettledEnv } from '../config/env.js';
import { SENTENCES } from './failure-sentences.js';
import type { PartnerConnection } from './partner-connection.js';
import { PartnerFailure } from './partner-failure.js';
import { openKey, sealKey } from './sealed-keys.js';

/** One slot of a connection (decision 18). */
export interface KeySlot {
  readonly sealed: string;
  readonly key: string;
}

/** The two key slots of connections: sealed in the database, open only here and in the header of a call. */
@Injectable()
export class ConnectionKeys {
  constructor(
    private readonly dataSource: DataSource,
    @Inject(ENV) private readonly env: Pick<SettledEnv, 'SECRETS_KEY'>,
  ) {}

  seal(connectionId: string, key: string): string {
    return sealKey(this.env.SECRETS_KEY, connectionId, key);
  }

  /**
   * The slots in the order in which they are tried, as they are now: a reading may go on for hours after its connection
   * was loaded. Throws `SealBroken`, and `PartnerFailure` where the connection was deleted or has another address: keys
   * are for the one that they were saved with.
   */
  async slots({ id, haulerId, baseUrl }: PartnerConnection): Promise<KeySlot[]> {
    const [row] = await this.dataSource.query<{ sealed_key: string; sealed_next_key: string | null }[]>(
      `SELECT sealed_key, sealed_next_key FROM connections
       WHERE hauler_id = $1 AND id = $2 AND base_url = $3 AND deleted_at IS NULL`,
      [haulerId, id, baseUrl],
    );
    if (row === undefined) throw new PartnerFailure('withdrawn', SENTENCES.withdrawn());
    const { sealed_key: sealedKey, sealed_next_key: sealedNextKey } = row;
    const slot = (sealed: string) => ({ sealed, key: openKey(this.env.SECRETS_KEY, id, sealed) });
    return sealedNextKey === null ? [slot(sealedKey)] : [slot(sealedKey), slot(sealedNextKey)];
  }

  /**
   * The next key has worked where the current one did not: it is the current one from now on, on every instance. Unless an
   * admin has saved another one meanwhile, which nobody has refused.
   */
  async promote({ id, haulerId }: PartnerConnection, { sealed }: KeySlot, { sealed: refused }: KeySlot): Promise<void> {
    await this.dataSource.query(
      `UPDATE connections SET sealed_key = sealed_next_key, sealed_next_key = NULL, updated_at = now()
       WHERE hauler_id = $1 AND id = $2 AND sealed_next_key = $3 AND sealed_key = $4`,
      [haulerId, id, sealed, refused],
    );
  }
}
