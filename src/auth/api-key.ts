import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * The form of our keys (decision 17): `hb_`, the cell that issued the key and `_` where there are cells, 32 random bytes in
 * base 62, then the CRC-32 of all before it in base 62. Letters, digits and `_` only, so that a double click selects all of
 * it. The checksum separates a mistyped or truncated key from an unknown one without a database query, and secret scanners
 * recognise a leaked key by it.
 */
const MARK = 'hb_';
const SECRET_BYTES = 32;
const SECRET_DIGITS = 43;
const CHECK_DIGITS = 6;
const FORM = new RegExp(`^${MARK}(?:([0-9a-z]{1,12})_)?[0-9A-Za-z]{${SECRET_DIGITS + CHECK_DIGITS}}$`);

/** Digits of the secret in the prefix of lists: enough to distinguish keys, with 208 secret bits left. */
const SHOWN_DIGITS = 8;

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

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

/** The cell that issued a key of the right form; undefined for one without a cell. */
export const cellOfKey = (key: string): string | undefined => FORM.exec(key)?.[1];

/** The part of a key of the right form that lists show. */
export const keyPrefix = (key: string): string => key.slice(0, cellMark(cellOfKey(key)).length + SHOWN_DIGITS);

/** Whether a text has the form of a key and the right checksum. The key may still be unknown. */
export function isWellFormedKey(text: string): boolean {
  return FORM.test(text) && checksum(text.slice(0, -CHECK_DIGITS)) === text.slice(-CHECK_DIGITS);
}

/**
 * The SHA-256 of a key, base64url. One fast hash is enough: a slow one protects secrets that can be guessed, and 256
 * random bits cannot. Keys are looked up by this hash, so the time of a lookup reveals nothing about any key.
 */
export function hashKey(key: string): string {
  return hash('sha256', key, 'base64url');
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECK_DIGITS);
}

function base62(value: bigint, length: number): string {
  let digits = '';
  for (let rest = value; digits.length < length; rest /= 62n) digits = DIGITS.charAt(Number(rest % 62n)) + digits;
  return digits;
}
