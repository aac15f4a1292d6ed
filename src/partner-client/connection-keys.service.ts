import { Inject, Injectable } from '@nestjs/common';
import { ENV, type ResolvedEnv } from '../core/config/env.js';
import { openText, sealText } from '../core/config/sealed-text.js';
import { Database } from '../core/database/database.js';
import { findSealedKeys, type PartnerConnection, promoteNextKey } from './connections.repository.js';
import { PartnerFailure, SENTENCES } from './partner-failure.js';

/** One key slot of a connection (decision 18). */
export interface KeySlot {
  readonly sealed: string;
  readonly key: string;
}

/** The two key slots of connections. A key is encrypted in the database; in plain it exists only here and in the header of a call. */
@Injectable()
export class ConnectionKeys {
  constructor(
    private readonly database: Database,
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'SECRETS_KEY'>,
  ) {}

  seal(connectionId: string, key: string): string {
    return sealKey(this.env.SECRETS_KEY, connectionId, key);
  }

  /**
   * The current key, then the next one if there is one. They are read for each attempt, because a job may run for hours.
   * Throws `SealBrokenError`, and `PartnerFailure` of kind `connectionChanged` if the connection was deleted or its address
   * changed: a key is sent only to the address that it was saved with.
   */
  async slots(connection: PartnerConnection): Promise<KeySlot[]> {
    const sealedKeys = await findSealedKeys(this.database, connection);
    if (sealedKeys === undefined) throw new PartnerFailure('connectionChanged', SENTENCES.connectionChanged());
    return sealedKeys.map((sealed) => ({ sealed, key: openKey(this.env.SECRETS_KEY, connection.id, sealed) }));
  }

  /**
   * Makes the next key the current one, on every instance. The statement names both sealed keys, so it changes nothing if
   * an admin has saved another key meanwhile.
   */
  async promote(connection: PartnerConnection, accepted: KeySlot, refused: KeySlot): Promise<void> {
    await promoteNextKey(this.database, connection, accepted.sealed, refused.sealed);
  }
}

/** The key was encrypted with another SECRETS_KEY or for another connection, or the stored text was changed. */
export class SealBrokenError extends Error {
  /** The job runner logs the message alone, without a stack. */
  readonly expected = true;

  constructor() {
    super('The stored API key cannot be decrypted with this SECRETS_KEY; save the key of the connection again.');
    this.name = 'SealBrokenError';
  }
}

/** Encrypts a key that a partner issued to us (decision 18), for one connection. */
export const sealKey = (secretsKey: Buffer, connectionId: string, key: string): string =>
  sealText(secretsKey, ownerOf(connectionId), key);

/** Throws `SealBrokenError`. */
export function openKey(secretsKey: Buffer, connectionId: string, sealed: string): string {
  const key = openText(secretsKey, ownerOf(connectionId), sealed);
  if (key === undefined) throw new SealBrokenError();
  return key;
}

const ownerOf = (connectionId: string): string => `haulbridge connection ${connectionId.toLowerCase()}`;
