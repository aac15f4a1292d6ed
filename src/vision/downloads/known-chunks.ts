import type { Recording } from '../../contracts/vision/vision.dto.js';
import { isSameCamera, mayBeAliases } from '../spelling.js';

/** A listed chunk beside what is stored of it. */
export interface Known {
  readonly place: number;
  readonly id: string;
  readonly status: string;
  readonly camera: string;
  readonly same_range: boolean;
  /** All of the listed time is in the stored one's, but for less than what counts. */
  readonly covered: boolean;
}

/** A chunk whose file was fetched, or given up, and that has grown since: what is listed now is another file. */
export const isOutgrown = ({ status, covered }: Known): boolean =>
  !covered && (status === 'stored' || status === 'failed');

/** The first row of each chunk. One under another name of its camera counts where no listed chunk has it under its own. */
export function knownByCamera(chunks: readonly Recording[], rows: readonly Known[]): Map<number, Known> {
  const known = new Map<number, Known>();
  const taken = new Set<string>();
  const take = (row: Known): void => {
    known.set(row.place, row);
    taken.add(row.id);
  };
  const listedCamera = ({ place }: Known): string => chunks[place]?.cameraId ?? '';
  for (const row of rows) {
    if (!known.has(row.place) && isSameCamera(row.camera, listedCamera(row))) take(row);
  }
  for (const row of rows) {
    const free = !known.has(row.place) && !taken.has(row.id);
    if (free && mayBeAliases(row.camera, listedCamera(row))) take(row);
  }
  return known;
}

/** One page may list a chunk twice; the later one has the younger link. */
export function distinctChunks(chunks: readonly Recording[]): Recording[] {
  const kept = new Map<string, Recording>();
  const keyOfId = new Map<string, string>();
  for (const chunk of chunks) {
    const { id, truckId, cameraId, startTime, endTime } = chunk;
    const named = JSON.stringify([id, truckId, cameraId]);
    const former = kept.get(keyOfId.get(named) ?? '');
    const again = former !== undefined && former.startTime < endTime && former.endTime > startTime;
    const key = again ? (keyOfId.get(named) ?? '') : rangeOf(chunk);
    kept.set(key, chunk);
    keyOfId.set(named, key);
  }
  // Of two ids with one range, too, there is one row.
  return [...new Map([...kept.values()].map((chunk) => [rangeOf(chunk), chunk])).values()];
}

const rangeOf = ({ truckId, cameraId, startTime, endTime }: Recording): string =>
  JSON.stringify([truckId, cameraId, startTime, endTime]);
