import { crc32 } from 'node:zlib';

/**
 * The form of our keys (decision 17): `hb_`, the cell that issued the key and `_` where there are cells, 32 random bytes in
 * base 62, then the CRC-32 of all before it in base 62. Letters, digits and `_` only, so that a double click selects all of
 * it. The checksum separates a mistyped or truncated key from an unknown one without a database query, and secret scanners
 * recognise a leaked key by it.
 */
export const MARK = 'hb_';
export const SECRET_DIGITS = 43;
const CHECK_DIGITS = 6;
const FORM = new RegExp(`^${MARK}(?:([0-9a-z]{1,12})_)?[0-9A-Za-z]{${SECRET_DIGITS + CHECK_DIGITS}}$`);

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The cell that issued a key of the right form; undefined for one without a cell. */
export const cellOfKey = (key: string): string | undefined => FORM.exec(key)?.[1];

/** Whether a text has the form of a key and the right checksum. The key may still be unknown. */
export function isWellFormedKey(text: string): boolean {
  return FORM.test(text) && checksum(text.slice(0, -CHECK_DIGITS)) === text.slice(-CHECK_DIGITS);
}

/** The last digits of a key with this beginning. */
export function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECK_DIGITS);
}

export function base62(value: bigint, length: number): string {
  let digits = '';
  for (let rest = value; digits.length < length; rest /= 62n) digits = DIGITS.charAt(Number(rest % 62n)) + digits;
  return digits;
}
