import { randomFillSync } from 'node:crypto';
import { epochMillis, type Instant } from '../../contracts/common/instant.js';

const RANDOM_BYTES = 10;

const pool = Buffer.alloc(4096 * RANDOM_BYTES);
let used = pool.length;
let lastTime = 0;
/** Ids follow a clock that steps back further: they would have the wrong time until it is reached again. */
const MAX_STEP_BACK_MS = 10_000;
/** The part of the text that encodes `lastTime`. */
let timeText = '';
let sequence = 0;

/**
 * A version 7 UUID (RFC 9562) in lower case. Within this process each is greater than the one before, also within a
 * millisecond and when the clock steps back by at most 10 s: 12 bits of `rand_a` count, and a full count borrows the next
 * millisecond.
 */
export function uuidv7(now: number = Date.now()): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const at = used;
  used += RANDOM_BYTES;
  if (now > lastTime || now < lastTime - MAX_STEP_BACK_MS) {
    begin(now);
    // The count begins in the lower half, so that a burst rarely borrows.
    sequence = pool.readUInt16BE(at + 8) & 0x7ff;
  } else if (++sequence > 0xfff) {
    begin(lastTime + 1);
    sequence = 0;
  }
  const low = ((pool.readUInt16BE(at) & 0x3fff) | 0x8000).toString(16);
  return `${timeText}${(0x7000 | sequence).toString(16)}-${low}-${pool.toString('hex', at + 2, at + 8)}`;
}

function begin(time: number): void {
  lastTime = time;
  timeText = textOfTime(time);
}

/** The first characters of each id of this millisecond, up to the version. */
function textOfTime(time: number): string {
  const hex = time.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-`;
}

/** The time in a version 7 UUID, in milliseconds since the epoch. */
export function timeOfUuidv7(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** The smallest version 7 UUID of a millisecond: a bound for queries by time. */
export function minUuidv7Of(milliseconds: number): string {
  return `${textOfTime(Math.min(Math.max(milliseconds, 0), 0xffff_ffff_ffff))}7000-8000-000000000000`;
}

/** The same of an instant. Ids have whole milliseconds, so an instant between two of them means the later one. */
export const minUuidv7From = (instant: Instant): string =>
  minUuidv7Of(epochMillis(instant) + (instant.endsWith('000Z') ? 0 : 1));
