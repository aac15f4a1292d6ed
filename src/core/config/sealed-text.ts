import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts a text with SECRETS_KEY: `v1.` and base64url of nonce, tag and AES-256-GCM ciphertext. The owner, such as the kind and id of
 * the row, is the additional data: a sealed text that was copied to another row cannot be decrypted.
 */
export function sealText(secretsKey: Buffer, owner: string, text: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', secretsKey, nonce).setAAD(Buffer.from(owner, 'utf8'));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return `${VERSION}.${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')}`;
}

/** Undefined if it was sealed with another key or for another owner, or was changed. */
export function openText(secretsKey: Buffer, owner: string, sealed: string): string | undefined {
  const [version, text = ''] = sealed.split('.');
  const bytes = Buffer.from(text, 'base64url');
  if (version !== VERSION) return undefined;
  try {
    const cipher = createDecipheriv('aes-256-gcm', secretsKey, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    })
      .setAAD(Buffer.from(owner, 'utf8'))
      .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([cipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), cipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}
