import { epochMillis, type Instant } from '../../contracts/common/instant.js';

/** A link that says nothing of its end is taken to live so long, for the order of downloads only. */
const ASSUMED_LIFE_MS = 3_600_000;

/** By when a file should be fetched: what is first is fetched first (decision 47). */
export function fetchBy(expiresAt: Instant | undefined, now: number): Date {
  return new Date(expiresAt === undefined ? now + ASSUMED_LIFE_MS : epochMillis(expiresAt));
}
