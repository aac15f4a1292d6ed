import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ENV, type ResolvedEnv } from '../config/env.js';
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
    private readonly dataSource: DataSource,
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
    const sealedKeys = await findSealedKeys(this.dataSource, connection);
    if (sealedKeys === undefined) throw new PartnerFailure('connectionChanged', SENTENCES.connectionChanged());
    return sealedKeys.map((sealed) => ({ sealed, key: openKey(this.env.SECRETS_KEY, connection.id, sealed) }));
  }

  /**
   * Makes the next key the current one, on every instance. The statement names both sealed keys, so it changes nothing if
   * an admin has saved another key meanwhile.
   */
  async promote(connection: PartnerConnection, accepted: KeySlot, refused: KeySlot): Promise<void> {
    await promoteNextKey(this.dataSource, connection, accepted.sealed, refused.sealed);
  }
}

const VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The key was encrypted with another SECRETS_KEY or for another connection, or the stored text was changed. */
export class SealBrokenError extends Error {
  /** The job runner logs the message alone, without a stack. */
  readonly expected = true;

  constructor() {
    super('The stored API key cannot be decrypted with this SECRETS_KEY; save the key of the connection again.');
    this.name = 'SealBrokenError';
  }
}

/**
 * Encrypts a key that a partner issued to us (decision 18): `v1.` and base64url of nonce, tag and AES-256-GCM ciphertext.
 * The connection is the additional data: a sealed key that was copied to another row cannot be decrypted.
 */
export function sealKey(secretsKey: Buffer, connectionId: string, key: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', secretsKey, nonce).setAAD(additionalData(connectionId));
  const sealed = Buffer.concat([cipher.update(key, 'utf8'), cipher.final()]);
  return `${VERSION}.${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')}`;
}

/** Throws `SealBrokenError`. */
export function openKey(secretsKey: Buffer, connectionId: string, sealed: string): string {
  const [version, text = ''] = sealed.split('.');
  const bytes = Buffer.from(text, 'base64url');
  if (version !== VERSION) throw new SealBrokenError();
  try {
    const cipher = createDecipheriv('aes-256-gcm', secretsKey, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    })
      .setAAD(additionalData(connectionId))
      .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([cipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), cipher.final()]).toString('utf8');
  } catch {
    throw new SealBrokenError();
  }
}

function additionalData(connectionId: string): Buffer {
  return Buffer.from(`haulbridge connection ${connectionId.toLowerCase()}`, 'utf8');
}
