/** PostgreSQL's number of the type `text`. */
const TEXT = 25;

const HEADER_BYTES = 20;

/** A UTF-16 unit takes at most so many bytes of UTF-8. */
const UNIT_BYTES = 3;

/**
 * A `text[]` in PostgreSQL's binary form: nothing is escaped here nor parsed there, and it is copied once. Other types
 * are cast in the statement (`value::uuid`).
 */
export function textArray(values: readonly (string | null)[]): Buffer {
  let atMost = HEADER_BYTES;
  for (const value of values) atMost += 4 + (value === null ? 0 : UNIT_BYTES * value.length);
  const array = Buffer.allocUnsafe(atMost);
  array.writeInt32BE(1, 0); // dimensions
  array.writeInt32BE(1, 4); // there may be nulls
  array.writeInt32BE(TEXT, 8);
  array.writeInt32BE(values.length, 12);
  array.writeInt32BE(1, 16); // the first index
  let at = HEADER_BYTES;
  for (const value of values) {
    const bytes = value === null ? -1 : array.write(value, at + 4);
    array.writeInt32BE(bytes, at);
    at += 4 + Math.max(bytes, 0);
  }
  return array.subarray(0, at);
}
