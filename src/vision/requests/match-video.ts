import { epochMillis, type Instant } from '../../contracts/common/instant.js';
import type { Video } from '../../contracts/vision/vision.dto.js';

/** What of a part its clips are recognised by (decision 38). */
export interface Wanted {
  readonly id: string;
  readonly partnerRequestId: string | null;
  readonly truckId: string;
  readonly cameraId: string;
  readonly startTime: Instant;
  readonly endTime: Instant;
}

/** Partners cut at key frames: a clip's ends may lie that far from what was asked for. */
const TOLERANCE_MS = 10_000;
const TOLERANCE_SHARE = 0.25;

const PLACEMENT = /^[a-z][a-z _-]*$/;

/**
 * Which listed clips answer which parts, by the part's id. By `requestId`; where a partner gave one id to several
 * requests, or gives none, by truck, camera and range. A camera's placement and its number may be one camera: such a
 * match counts only where no exact one is there.
 */
export function matchVideos<W extends Wanted>(wanted: readonly W[], videos: readonly Video[]): Map<W, Video[]> {
  const byRequest = groupBy(wanted, ({ partnerRequestId }) => partnerRequestId ?? undefined);
  const byTruck = groupBy(wanted, ({ truckId }) => nameOf(truckId));
  const found = new Map<W, Video[]>();
  for (const video of videos) {
    const named = video.requestId === undefined ? undefined : (byRequest.get(video.requestId) ?? []);
    const part =
      named?.length === 1
        ? plausible(named[0], video)
        : closest(named ?? byTruck.get(nameOf(video.truckId)) ?? [], video);
    if (part !== undefined) found.set(part, [...(found.get(part) ?? []), video]);
  }
  return found;
}

/** A clip under our id that shows another truck or another time is not ours: partners have reused ids. */
function plausible<W extends Wanted>(part: W | undefined, video: Video): W | undefined {
  if (part === undefined || nameOf(part.truckId) !== nameOf(video.truckId)) return undefined;
  return video.startTime < part.endTime && video.endTime > part.startTime ? part : undefined;
}

function closest<W extends Wanted>(candidates: readonly W[], video: Video): W | undefined {
  let best: { readonly part: W; readonly distance: number } | undefined;
  for (const part of candidates) {
    const distance = distanceOf(part, video);
    if (distance !== undefined && (best === undefined || distance < best.distance)) best = { part, distance };
  }
  return best?.part;
}

/** Undefined where they do not belong together. An alias is worse than any exact name. */
function distanceOf(part: Wanted, video: Video): number | undefined {
  const camera = cameraDistance(part.cameraId, video.cameraId);
  if (camera === undefined || nameOf(part.truckId) !== nameOf(video.truckId)) return undefined;
  const [start, end] = [epochMillis(part.startTime), epochMillis(part.endTime)];
  const off = [Math.abs(epochMillis(video.startTime) - start), Math.abs(epochMillis(video.endTime) - end)];
  const most = Math.min(TOLERANCE_MS, (end - start) * TOLERANCE_SHARE);
  return off.every((ms) => ms <= most) ? camera + (off[0] ?? 0) + (off[1] ?? 0) : undefined;
}

function cameraDistance(one: string, other: string): number | undefined {
  const [a, b] = [nameOf(one), nameOf(other)];
  if (a === b) return 0;
  const [word, number] = /^\d+$/.test(a) ? [b, a] : [a, b];
  return /^\d+$/.test(number) && PLACEMENT.test(word) ? 1_000_000 : undefined;
}

const nameOf = (text: string): string => text.trim().toLowerCase();

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string | undefined): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    if (key !== undefined) groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return groups;
}
