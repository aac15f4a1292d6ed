import type { Instant } from '../contracts/common/instant.js';

/** How values of one of PostgreSQL's types go into an array, in binary. */
interface Element {
  /** PostgreSQL's number of the type. */
  readonly oid: number;
  readonly mostBytes: (value: string) => number;
  /** Returns how many bytes it wrote. */
  readonly write: (array: Buffer, value: string, at: number) => number;
}

/** A UTF-16 unit takes at most so many bytes of UTF-8. */
const UNIT_BYTES = 3;

const ELEMENTS = {
  integer: { oid: 23, mostBytes: () => 4, write: (array, value, at) => array.writeInt32BE(Number(value), at) - at },
  text: {
    oid: 25,
    mostBytes: ({ length }) => UNIT_BYTES * length,
    write: (array, value, at) => array.write(value, at),
  },
  timestamptz: { oid: 1184, mostBytes: () => 8, write: writeInstant },
  uuid: { oid: 2950, mostBytes: () => 16, write: writeUuid },
} satisfies Record<string, Element>;

/** A type that `sqlArray` makes arrays of. Integers are given as text too. */
export type ElementType = keyof typeof ELEMENTS;

const HEADER_BYTES = 20;

/**
 * An array of PostgreSQL's in its binary form, for a parameter that the statement casts to `type[]`: nothing is escaped
 * here nor parsed there, which for ids and instants was a fifth of what writing 30 tickets cost the database.
 */
export function sqlArray(type: ElementType, values: readonly (string | null)[]): Buffer {
  const { oid, mostBytes, write }: Element = ELEMENTS[type];
  let atMost = HEADER_BYTES;
  for (const value of values) atMost += 4 + (value === null ? 0 : mostBytes(value));
  const array = Buffer.allocUnsafe(atMost);
  array.writeInt32BE(1, 0); // dimensions
  array.writeInt32BE(1, 4); // there may be nulls
  array.writeInt32BE(oid, 8);
  array.writeInt32BE(values.length, 12);
  array.writeInt32BE(1, 16); // the first index
  let at = HEADER_BYTES;
  for (const value of values) {
    const bytes = value === null ? -1 : write(array, value, at + 4);
    array.writeInt32BE(bytes, at);
    at += 4 + Math.max(bytes, 0);
  }
  return array.subarray(0, at);
}

const UUID_BYTES = 16;
const UUID_LENGTH = 36;
const HYPHEN = 0x2d;

const NO_DIGIT = 0x80;

/** Of hexadecimal digits by their character's code; what is none has a bit that no digit has. */
const DIGITS = Uint8Array.from({ length: 128 }, (_, code) => {
  const digit = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(digit) ? NO_DIGIT : digit;
});

/** Digit by digit: a third of the cost of taking the hyphens out and having the rest read. */
function writeUuid(array: Buffer, value: string, at: number): number {
  let wrong = value.length ^ UUID_LENGTH;
  let to = at;
  for (let i = 0; i < UUID_LENGTH; i += 2) {
    if (i === 8 || i === 13 || i === 18 || i === 23) wrong |= value.charCodeAt(i++) ^ HYPHEN;
    const high = DIGITS[value.charCodeAt(i)] ?? NO_DIGIT;
    const low = DIGITS[value.charCodeAt(i + 1)] ?? NO_DIGIT;
    wrong |= (high | low) & NO_DIGIT;
    array[to++] = (high << 4) | low;
  }
  if (wrong !== 0) throw new TypeError(`not a UUID: ${value}`);
  return UUID_BYTES;
}

/** Where PostgreSQL begins to count, in milliseconds of ours: the year 2000. */
const EPOCH_MS = Date.UTC(2000);

/** Microseconds. Those of the years 1715 to 2285 are whole numbers of JavaScript's, which are a third of the cost. */
function writeInstant(array: Buffer, value: Instant, at: number): number {
  // What comes after milliseconds is left out by `parse`.
  const ms = Date.parse(value) - EPOCH_MS;
  const fraction = Number(value.slice(23, 26));
  const micros = ms * 1000 + fraction;
  if (Number.isNaN(micros)) throw new TypeError(`not an instant: ${value}`);
  if (!Number.isSafeInteger(micros)) return array.writeBigInt64BE(BigInt(ms) * 1000n + BigInt(fraction), at) - at;
  const high = Math.floor(micros / 2 ** 32);
  array.writeInt32BE(high, at);
  return array.writeUInt32BE(micros - high * 2 ** 32, at + 4) - at;
}
