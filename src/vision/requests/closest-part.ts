import { epochMillis, type Instant } from '../../contracts/common/instant.js';
import { cameraKind, comparableName } from '../spelling.js';

/** Which camera of which truck shows what time. */
export interface Shown {
  readonly truckId: string;
  readonly cameraId: string;
  readonly startTime: Instant;
  readonly endTime: Instant;
}

const TOLERANCE_MS = 10_000;
const TOLERANCE_SHARE = 0.25;

/** Partners cut at key frames: a clip's ends may lie that far from what was asked for. */
export const toleranceMs = ({ start, end }: Times): number => Math.min(TOLERANCE_MS, (end - start) * TOLERANCE_SHARE);

/** In milliseconds. */
interface Times {
  readonly start: number;
  readonly end: number;
}

interface Timed<P> extends Times {
  readonly part: P;
  readonly place: number;
}

/** The parts of one truck, each list by start. */
interface TruckParts<P> {
  readonly byCamera: ReadonlyMap<string, readonly Timed<P>[]>;
  readonly byKind: ReadonlyMap<string | undefined, readonly Timed<P>[]>;
}

/**
 * Parts to be found by truck, camera and range. Their times are reckoned once, and only those are compared that begin
 * near a clip: of 1,000 parts and 25,000 clips each with each took half a minute.
 */
export class ClosestParts<P extends Shown> {
  private readonly trucks = new Map<string, TruckParts<P>>();

  constructor(parts: readonly P[]) {
    const timed = parts.map((part, place) => ({ part, ...timesOf(part), place }));
    for (const [truck, own] of Map.groupBy(timed, ({ part }) => comparableName(part.truckId))) {
      this.trucks.set(truck, {
        byCamera: byStart(Map.groupBy(own, ({ part }) => comparableName(part.cameraId))),
        byKind: byStart(Map.groupBy(own, ({ part }) => cameraKind(part.cameraId))),
      });
    }
  }

  /** Of those as near the first one; one under an alias of the clip's camera where there is none under its name. */
  to(clip: Shown): P | undefined {
    const truck = this.trucks.get(comparableName(clip.truckId));
    if (truck === undefined) return undefined;
    const times = timesOf(clip);
    const own = nearest(truck.byCamera.get(comparableName(clip.cameraId)), times);
    if (own !== undefined) return own;
    const kind = cameraKind(clip.cameraId);
    return kind === undefined ? undefined : nearest(truck.byKind.get(OTHER_KIND[kind]), times);
  }
}

const OTHER_KIND = { placement: 'number', number: 'placement' } as const;

export const timesOf = ({ startTime, endTime }: Pick<Shown, 'startTime' | 'endTime'>): Times => ({
  start: epochMillis(startTime),
  end: epochMillis(endTime),
});

/** Of parts with the same times the first one: the others are never nearer. */
function byStart<K, P>(groups: ReadonlyMap<K, readonly Timed<P>[]>): Map<K, readonly Timed<P>[]> {
  const sorted = [...groups].map(([key, parts]): [K, readonly Timed<P>[]] => {
    const firsts = new Map(parts.toReversed().map((part) => [`${part.start} ${part.end}`, part]));
    return [key, [...firsts.values()].sort((a, b) => a.start - b.start)];
  });
  return new Map(sorted);
}

function nearest<P>(parts: readonly Timed<P>[] = [], clip: Times): P | undefined {
  let best: { readonly timed: Timed<P>; readonly distance: number } | undefined;
  for (let i = firstFrom(parts, clip.start - TOLERANCE_MS); i < parts.length; i++) {
    const timed = parts[i];
    if (timed === undefined || timed.start > clip.start + TOLERANCE_MS) break;
    const distance = distanceOf(timed, clip);
    if (distance === undefined || (best !== undefined && best.distance < distance)) continue;
    if (best === undefined || distance < best.distance || timed.place < best.timed.place) best = { timed, distance };
  }
  return best?.timed.part;
}

/** By bisection. */
function firstFrom(parts: readonly Timed<unknown>[], start: number): number {
  let [low, high] = [0, parts.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((parts[middle]?.start ?? Infinity) < start) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** In milliseconds; undefined where the ranges do not belong together. */
function distanceOf<P>(part: Timed<P>, clip: Times): number | undefined {
  const most = toleranceMs(part);
  const [start, end] = [Math.abs(clip.start - part.start), Math.abs(clip.end - part.end)];
  return start <= most && end <= most ? start + end : undefined;
}
