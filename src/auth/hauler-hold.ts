import type { AppError } from '../errors/app-error.js';
import { unavailable } from '../errors/app-error.js';
import type { HaulerHold } from '../http/principal.js';

const RETRY_SECONDS: Readonly<Record<HaulerHold, number>> = { locked: 5, moved: 30 };
const SENTENCES: Readonly<Record<HaulerHold, string>> = {
  locked: 'the hauler is moving to another cell, and nothing of it can be changed meanwhile; send the request again',
  moved:
    'the hauler has moved to another cell, and the proxy does not route its keys there yet; send the request again',
};

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** The refusal of a request; undefined where it may pass. While a hauler is locked, its data can be read. */
export function refusalOf(hold: HaulerHold | undefined, method: string): AppError | undefined {
  if (hold === undefined || (hold === 'locked' && READS.has(method))) return undefined;
  return unavailable(SENTENCES[hold], { retryAfterSeconds: RETRY_SECONDS[hold] });
}
