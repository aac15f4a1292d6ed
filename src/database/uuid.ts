import { randomFillSync } from 'node:crypto';

const pool = Buffer.alloc(4096);
let used = pool.length;
let lastTime = 0;
let sequence = 0;

/**
 * A version 7 UUID (RFC 9562) in lower case. Within this process each is greater than the one before, also within a
 * millisecond and when the clock steps back: 12 bits of `rand_a` count, and a full count borrows the next millisecond.
 */
export function uuidv7(now: number = Date.now()): string {
  if (used + 10 > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const random = pool.subarray(used, used + 10);
  used += 10;
  if (now > lastTime) {
    lastTime = now;
    // Begin in the lower half, so that a burst has room to count before it borrows.
    sequence = random.readUInt16BE(8) & 0x7ff;
  } else if (++sequence > 0xfff) {
    lastTime += 1;
    sequence = 0;
  }
  const time = lastTime.toString(16).padStart(12, '0');
  const low = ((random.readUInt16BE(0) & 0x3fff) | 0x8000).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-${(0x7000 | sequence).toString(16)}-${low}-${random.toString('hex', 2, 8)}`;
}

/** The time in a version 7 UUID, in milliseconds since the epoch. */
export function timeOfUuidv7(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** Not above any version 7 UUID of this millisecond, and above every one of an earlier: a bound for queries by time. */
export function leastUuidv7Of(milliseconds: number): string {
  const time = Math.min(Math.max(milliseconds, 0), 0xffff_ffff_ffff).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}
