import type { Reference, ReferenceKind } from '../contracts/common/references.js';
import { timeOfUuidv7 } from '../database/uuid.js';

const HOUR_MS = 3_600_000;

/** A key has 27 bits of a hash, and above them the hour of the day from -12 to 11: it is an `integer` of PostgreSQL. */
export const KEYS_OF_HOUR = 2 ** 27;
export const FIRST_HOUR = -12;

/** Kinds of values that exchanges of many haulers share: a further key is of the value and the hauler. */
const SHARED_KINDS: ReadonlySet<ReferenceKind> = new Set(['siteId', 'materialId', 'truckId', 'cameraId']);

/** Hours since 1970 of the time in an id. */
export const hourOf = (id: string): number => Math.floor(timeOfUuidv7(id) / HOUR_MS);

/**
 * The keys by which an exchange is found in the partition of its day: its hour and a hash of each reference. New keys are greater
 * than those of earlier hours, so that the writer changes a small part of the index, and a reader of the newest exchanges reads few
 * of a frequent value.
 */
export function keysOf(id: string, haulerId: string | null, references: readonly Reference[]): number[] {
  const start = ((hourOf(id) % 24) + FIRST_HOUR) * KEYS_OF_HOUR;
  const hauler = haulerId === null ? 0 : textHash(haulerId);
  const keys: number[] = [];
  for (const { kind, value } of references) {
    const hash = textHash(value, textHash(kind));
    keys.push(start + bits(hash));
    if (haulerId !== null && SHARED_KINDS.has(kind)) keys.push(start + bits(hash ^ hauler));
  }
  return keys;
}

/**
 * The hash in a key; for a shared kind that of the value and the hauler, if it is given. Different values may have the same hash: a
 * reader compares the references as well.
 */
export function hashOf({ kind, value }: Reference, haulerId?: string): number {
  const hash = textHash(value, textHash(kind));
  return bits(haulerId !== undefined && SHARED_KINDS.has(kind) ? hash ^ textHash(haulerId) : hash);
}

const bits = (hash: number): number => hash & (KEYS_OF_HOUR - 1);

/** FNV-1a. */
function textHash(text: string, start = 0x811c9dc5): number {
  let hash = start;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}
