import type { Reference } from '../contracts/common/references.js';
import { timeOfUuidv7 } from '../database/uuid.js';

const HOUR_MS = 3_600_000;
const HASHES = 2 ** 32;

/** Hours since 1970 of the time in an id. */
export const hourOf = (id: string): number => Math.floor(timeOfUuidv7(id) / HOUR_MS);

/**
 * The keys by which an exchange is found: its hour and a hash of each reference, and of its hauler. New keys are greater than those
 * of earlier hours, so that the writer changes a small part of the index, and a reader of the newest exchanges reads few of a
 * frequent value.
 */
export function keysOf(id: string, haulerId: string | null, references: readonly Reference[]): number[] {
  const first = hourOf(id) * HASHES;
  const keys = references.map((reference) => first + hashOf(reference));
  if (haulerId !== null) keys.push(first + hashOf({ kind: 'haulerId', value: haulerId }));
  return keys;
}

/** 32 bits (FNV-1a). Different values may have the same hash: a reader compares the references as well. */
export function hashOf({ kind, value }: { readonly kind: string; readonly value: string }): number {
  return hashed(value, hashed(kind, 0x811c9dc5)) >>> 0;
}

function hashed(text: string, start: number): number {
  let hash = start;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}
