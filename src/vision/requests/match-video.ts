import { epochMillis, formatInstant, type Instant } from '../../contracts/common/instant.js';
import type { Video } from '../../contracts/vision/vision.dto.js';
import type { Finding } from '../client/finding.js';
import { isSameCamera, mayBeOneTruck, mayBeSameCamera, nameOf } from '../spelling.js';

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

/** Clips of one part: an hour in pieces of four seconds. What a partner lists beyond that is not fetched. */
export const MOST_CLIPS = 1_000;

/**
 * Which listed clips answer which parts, by the part's id. By `requestId`; where a partner gave one id to several
 * requests, or gives none, by truck, camera and range. So does an id that nobody knows answer a part of whose id the 202
 * told us nothing; `taken` are the ids of our other requests. A camera's placement and its number may be one camera: such
 * a match counts only where no exact one is there.
 */
export function matchVideos<W extends Wanted>(
  wanted: readonly W[],
  videos: readonly Video[],
  taken: ReadonlySet<string> = new Set(),
): Map<W, Video[]> {
  const byRequest = Map.groupBy(wanted, requestOf);
  const byTruck = Map.groupBy(wanted, truckOf);
  const nameless = Map.groupBy(
    wanted.filter((part) => part.partnerRequestId === null),
    truckOf,
  );
  const find = (video: Video): W | undefined => {
    const truck = nameOf(video.truckId);
    if (video.requestId === undefined) return closest(byTruck.get(truck) ?? [], video);
    const [part, ...more] = byRequest.get(video.requestId) ?? [];
    if (part === undefined) return taken.has(video.requestId) ? undefined : closest(nameless.get(truck) ?? [], video);
    if (more.length > 0) return closest([part, ...more], video);
    return isBelieved(part, video) ? part : undefined;
  };
  const found = new Map<W, Video[]>();
  for (const [part, clips] of Map.groupBy(videos, find)) {
    if (part !== undefined) found.set(part, clips.slice(0, MOST_CLIPS));
  }
  return found;
}

/** A clip under the id of one part, which is not that part's by what it shows. */
export interface Disbelieved<W> {
  readonly part: W;
  readonly finding: Finding;
}

/** What `matchVideos` passes over though its id is known, for an admin to see. */
export function disbelieved<W extends Wanted>(wanted: readonly W[], videos: readonly Video[]): Disbelieved<W>[] {
  const byRequest = Map.groupBy(wanted, requestOf);
  const surplus = [...Map.groupBy(videos, ({ requestId }) => requestId)].flatMap(([id, clips]) => {
    const [part] = clips.length > MOST_CLIPS && id !== undefined ? (byRequest.get(id) ?? []) : [];
    if (part === undefined) return [];
    const reason = `Request ${id} has more than ${MOST_CLIPS} clips; the first ones are fetched.`;
    return [{ part, finding: { path: 'data.videos[].requestId', reason } }];
  });
  const strange = videos.flatMap((video) => {
    const [part, ...more] = byRequest.get(video.requestId ?? '') ?? [];
    if (part === undefined || more.length > 0 || isBelieved(part, video)) return [];
    const reason = `The clip ${video.id} under request ${part.partnerRequestId} shows ${shown(video)}, not ${shown(part)}.`;
    return [{ part, finding: { path: 'data.videos[].requestId', reason, raw: video } }];
  });
  return [...surplus, ...strange];
}

const shown = ({
  truckId,
  cameraId,
  startTime,
  endTime,
}: Pick<Wanted, 'truckId' | 'cameraId' | 'startTime' | 'endTime'>) =>
  `truck ${truckId}, camera ${cameraId}, from ${formatInstant(startTime)} to ${formatInstant(endTime)}`;

/**
 * A clip under our id that shows another truck or another time is not ours: partners have reused ids. A truck that is
 * only spelled otherwise is believed where camera and range agree.
 */
function isBelieved(part: Wanted, video: Video): boolean {
  if (nameOf(part.truckId) !== nameOf(video.truckId)) {
    return mayBeOneTruck(part.truckId, video.truckId) && distanceOf(part, video) !== undefined;
  }
  return video.startTime < part.endTime && video.endTime > part.startTime;
}

function closest<W extends Wanted>(candidates: readonly W[], video: Video): W | undefined {
  let best: { readonly part: W; readonly distance: number } | undefined;
  for (const part of candidates) {
    const distance = truckOf(part) === nameOf(video.truckId) ? distanceOf(part, video) : undefined;
    if (distance !== undefined && (best === undefined || distance < best.distance)) best = { part, distance };
  }
  return best?.part;
}

/** By camera and range. Undefined where they do not belong together. An alias is worse than any exact name. */
function distanceOf(part: Wanted, video: Video): number | undefined {
  const camera = cameraDistance(part.cameraId, video.cameraId);
  if (camera === undefined) return undefined;
  const [start, end] = [epochMillis(part.startTime), epochMillis(part.endTime)];
  const off = [Math.abs(epochMillis(video.startTime) - start), Math.abs(epochMillis(video.endTime) - end)];
  const most = Math.min(TOLERANCE_MS, (end - start) * TOLERANCE_SHARE);
  return off.every((ms) => ms <= most) ? camera + (off[0] ?? 0) + (off[1] ?? 0) : undefined;
}

function cameraDistance(one: string, other: string): number | undefined {
  if (isSameCamera(one, other)) return 0;
  return mayBeSameCamera(one, other) ? 1_000_000 : undefined;
}

const requestOf = ({ partnerRequestId }: Wanted): string | undefined => partnerRequestId ?? undefined;

const truckOf = ({ truckId }: Wanted): string => nameOf(truckId);
