import { hash, randomBytes } from 'node:crypto';
import { base62, cellOfKey, checksum, MARK, SECRET_DIGITS } from '../core/observability/key-form.js';

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
