import { formatInstant } from '../../contracts/common/instant.js';
import type { Video } from '../../contracts/vision/vision.dto.js';
import type { Finding } from '../client/finding.js';
import { comparableName, mayBeOneTruck } from '../spelling.js';
import { ClosestParts, type Shown } from './closest-part.js';

/** What of a part its clips are recognised by (decision 38). */
export interface Wanted extends Shown {
  readonly id: string;
  readonly partnerRequestId: string | null;
}

/** Clips of one part: an hour in pieces of four seconds. What a partner lists beyond that is not fetched. */
export const MOST_CLIPS = 1_000;

/**
 * Which listed clips answer which parts, clip by clip: by `requestId`, or by truck, camera and range where a partner
 * gives none, or one id to several requests. An id that nobody knows may answer a part whose 202 told us none. A
 * camera's placement and its number may be one camera: such a match counts only where no exact one is there.
 */
export class Matching<W extends Wanted> {
  /** The first clips of each part. */
  readonly found = new Map<W, Video[]>();
  private readonly byRequest: ReadonlyMap<string | undefined, readonly W[]>;
  private readonly all: ClosestParts<W>;
  private readonly nameless: ClosestParts<W>;
  private readonly ofOneId = new Map<string, ClosestParts<W>>();
  private readonly surplus = new Set<W>();
  private readonly strange: Finding[] = [];

  constructor(wanted: readonly W[]) {
    this.byRequest = Map.groupBy(wanted, ({ partnerRequestId }) => partnerRequestId ?? undefined);
    this.all = new ClosestParts(wanted);
    this.nameless = new ClosestParts(this.byRequest.get(undefined) ?? []);
  }

  /** `taken` are the ids of our other requests. */
  take(video: Video, taken: ReadonlySet<string> = new Set()): void {
    const part = this.partOf(video, taken);
    if (part === undefined) return;
    const clips = this.found.get(part);
    if (clips === undefined) this.found.set(part, [video]);
    else if (clips.length < MOST_CLIPS) clips.push(video);
    else this.surplus.add(part);
  }

  /** What was passed over though its part is known, for an admin to see. */
  disbelieved(): Finding[] {
    return [...[...this.surplus].map(tooMany), ...this.strange];
  }

  private partOf(video: Video, taken: ReadonlySet<string>): W | undefined {
    const { requestId } = video;
    if (requestId === undefined) return this.all.to(video);
    const parts = this.byRequest.get(requestId) ?? [];
    const [part] = parts;
    if (part === undefined) return taken.has(requestId) ? undefined : this.nameless.to(video);
    const closest = this.ofOneId.get(requestId) ?? new ClosestParts(parts);
    this.ofOneId.set(requestId, closest);
    if (parts.length > 1) return closest.to(video);
    if (isBelieved(part, video, closest)) return part;
    const reason = `The clip ${video.id} under request ${requestId} shows ${shown(video)}, not ${shown(part)}.`;
    this.strange.push({ path: 'data.videos[].requestId', reason, raw: video });
    return undefined;
  }
}

/** Of one listing, or of several that have other ones each. */
export const tooMany = ({ partnerRequestId, ...range }: Omit<Wanted, 'id'>): Finding => {
  const [path, request] =
    partnerRequestId === null
      ? ['data.videos[]', `The request for ${shown(range)}`]
      : ['data.videos[].requestId', `Request ${partnerRequestId}`];
  return { path, reason: `${request} has more than ${MOST_CLIPS} clips; the first ones are fetched.` };
};

const shown = ({ truckId, cameraId, startTime, endTime }: Shown) =>
  `truck ${truckId}, camera ${cameraId}, from ${formatInstant(startTime)} to ${formatInstant(endTime)}`;

/**
 * A clip under our id that shows another truck or another time is not ours: partners have reused ids. A truck that is
 * only spelled otherwise is believed where camera and range agree.
 */
function isBelieved<W extends Wanted>(part: W, video: Video, closest: ClosestParts<W>): boolean {
  const { truckId, startTime, endTime } = part;
  if (comparableName(truckId) !== comparableName(video.truckId)) {
    return mayBeOneTruck(truckId, video.truckId) && closest.to({ ...video, truckId }) === part;
  }
  return video.startTime < endTime && video.endTime > startTime;
}
