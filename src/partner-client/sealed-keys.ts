import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The sealed key was made with another SECRETS_KEY, for another connection, or was changed. */
export class SealBroken extends Error {
  /** For the runner of due rows: the message says what an admin has to do. */
  readonly expected = true;

  constructor() {
    super('The stored API key cannot be opened with this SECRETS_KEY; save the key of the connection again.');
    this.name = 'SealBroken';
  }
}

/**
 * Seals a key that a partner issued to us (decision 18): `v1.` and base64url of nonce, tag and AES-256-GCM ciphertext.
 * It opens for the same connection only: a sealed key that was copied to another row is worthless.
 */
export function sealKey(secretsKey: Buffer, connectionId: string, key: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', secretsKey, nonce).setAAD(boundTo(connectionId));
  const sealed = Buffer.concat([cipher.update(key, 'utf8'), cipher.final()]);
  return `${VERSION}.${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')}`;
}

/** Throws `SealBroken`. */
export function openKey(secretsKey: Buffer, connectionId: string, sealed: string): string {
  const [version, text = ''] = sealed.split('.');
  const bytes = Buffer.from(text, 'base64url');
  if (version !== VERSION) throw new SealBroken();
  try {
    const cipher = createDecipheriv('aes-256-gcm', secretsKey, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    })
      .setAAD(boundTo(connectionId))
      .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([cipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), cipher.final()]).toString('utf8');
  } catch {
    throw new SealBroken();
  }
}

function boundTo(connectionId: string): Buffer {
  return Buffer.from(`haulbridge connection ${connectionId.toLowerCase()}`, 'utf8');
}
