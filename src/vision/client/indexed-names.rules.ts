import { constants, deflateRawSync } from 'node:zlib';

/** PostgreSQL takes entries of 2,704 bytes into an index; beside the names, ours have ids and times. */
const MAX_INDEXED_BYTES = 2_300;

/**
 * Whether names fit into the keys of recordings. PostgreSQL shortens what repeats itself in long ones; `Z_FIXED` does as much, and less
 * than that of PostgreSQL is asked for.
 */
export function areIndexable(...names: readonly string[]): boolean {
  const text = names.join('');
  // A code unit has at most three bytes.
  if (text.length * 3 <= MAX_INDEXED_BYTES) return true;
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_INDEXED_BYTES) return true;
  return deflateRawSync(bytes, { strategy: constants.Z_FIXED }).length <= MAX_INDEXED_BYTES / 2;
}
