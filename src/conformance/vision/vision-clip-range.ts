import { epochMillis, parseInstant } from '../../contracts/common/instant.js';
import { isJsonObject } from '../../contracts/common/json.js';
import { UnprovenError } from '../exchange.js';
import type { Exchanges } from '../rule.js';
import { elementsOf } from './vision-facts.js';

/** What the kit requests as a clip: nothing but recordings that the server has just listed is known to be recorded. */

const MAX_CLIP_MS = 60_000;
const MIN_PART_MS = 2_000;

type Element = Readonly<Record<string, unknown>>;

async function recordingsOf(run: Exchanges): Promise<readonly Element[]> {
  const { cameraId } = run.fixtures;
  const list = cameraId === undefined ? 'continuous' : 'continuousOfGivenCamera';
  const found = elementsOf(await run.exchange(list)).filter(isJsonObject);
  if (found.length > 0) return found;
  const camera = cameraId === undefined ? '' : ` of the camera ${cameraId}`;
  throw new UnprovenError(
    `the server lists no recording${camera} of this truck and range, so no clip can be requested: pass --truck-id, --camera-id, --from and --to of a recording`,
  );
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Its range, in the form that the platform sends. A time without an offset is a fault of the list, and is sent to no server. */
export function rangeIn(element: Element): { readonly startTime: string; readonly endTime: string } {
  const [from, to] = [parseInstant(textOf(element['startTime'])), parseInstant(textOf(element['endTime']))];
  if (from === undefined || to === undefined || epochMillis(to) <= epochMillis(from))
    throw new UnprovenError('the listed element has no valid range');
  return { startTime: new Date(epochMillis(from)).toISOString(), endTime: new Date(epochMillis(to)).toISOString() };
}

/** Truck, camera and at most a minute of the first recording, or of the last one. Of a single recording the halves are two clips. */
export async function clipOf(run: Exchanges, which: 'first' | 'last'): Promise<Readonly<Record<string, string>>> {
  const recordings = await recordingsOf(run);
  const recording = (which === 'first' ? recordings[0] : recordings.at(-1)) ?? {};
  const { startTime, endTime } = rangeIn(recording);
  const [from, to] = [Date.parse(startTime), Date.parse(endTime)];
  const isHalf = which === 'last' && recordings.length === 1;
  if (isHalf && to - from < MIN_PART_MS) throw new UnprovenError('the only recording is too short for two clips');
  const start = isHalf ? from + Math.floor((to - from) / 2_000) * 1_000 : from;
  return {
    truckId: textOf(recording['truckId']),
    cameraId: textOf(recording['cameraId']),
    startTime: new Date(start).toISOString(),
    endTime: new Date(Math.min(to, start + MAX_CLIP_MS)).toISOString(),
  };
}
