import { varied } from '../../jobs/backoff.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

const FIRST_MS = 5 * SECOND;
const LONGEST_AT_FIRST_MS = MINUTE;
const AT_FIRST_MS = 60 * MINUTE;
const LATER_MS = 5 * MINUTE;
const JITTER = 0.2;

/** One that stays open is asked for by its own id at least that often, so that a failure is seen. */
const ALONE_MS = 15 * MINUTE;

/** 404 so often in a row ends a request. */
export const MOST_NOT_FOUND = 3;

/** `asked`: how often the partner was asked about a part, from 0; `openMs`: since it was submitted. */
export interface PollProgress {
  readonly asked: number;
  readonly openMs: number;
}

/** Milliseconds until a part is asked about again, before the jitter (decision 41). */
export function pollDelayMs({ asked, openMs }: PollProgress): number {
  if (openMs >= AT_FIRST_MS) return LATER_MS;
  return Math.min(FIRST_MS * 2 ** asked, LONGEST_AT_FIRST_MS);
}

/** ±20 %: `random` is in [0, 1). One round has one, so that those who are asked about together stay together. */
export const jittered = (delayMs: number, random: number): number => varied(delayMs, JITTER, random);

/**
 * Whether a part goes along in a round that is held anyhow: it is due, or would be soon. So the parts of a customer come
 * together to one call, whenever they were submitted.
 */
export const goesAlong = (nextInMs: number, progress: PollProgress): boolean => nextInMs <= pollDelayMs(progress) / 2;

/**
 * Whether to ask for a part by its own id in this round, since the next one would be too late. `sinceMs`: since it was
 * asked for so, or was submitted.
 */
export const asksAlone = (sinceMs: number, progress: PollProgress): boolean =>
  sinceMs + pollDelayMs(progress) * (1 + JITTER) >= ALONE_MS;
