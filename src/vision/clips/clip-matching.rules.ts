import { epochMillis, formatInstant } from '../../contracts/common/instant.js';
import type { Video } from '../../contracts/vision/vision.dto.js';
import { type Finding, MAX_FINDINGS } from '../client/read-list.rules.js';
import { mayBeAliases, mayBeOneTruck, type NamePair, namesOf } from '../recordings/camera-names.rules.js';
import { MAX_CLIPS_PER_PART } from '../recordings/recording.rules.js';
import type { Range } from './clip-requests.rules.js';

/** A camera of a truck and a time range. */
export interface CameraRange extends Range {
  readonly truckId: string;
  readonly cameraId: string;
}

/** The fields of a part by which its clips are recognised (decision 38). */
export interface WantedPart extends CameraRange {
  readonly id: string;
  readonly partnerRequestId: string | null;
}

/** The known names of each truck's cameras, by truck. */
export type CameraNames = ReadonlyMap<string, readonly NamePair[]>;

/**
 * Assigns listed clips to parts, clip by clip: by `requestId`, or where the partner sends no id, or the same one for several
 * requests, by truck, camera and overlap. An id that no request has may belong to a part whose 202 carried no id. Names are
 * compared exactly; another name of a camera counts only where the partner itself returned it for that camera.
 */
export class ClipMatcher<P extends WantedPart> {
  /** The first clips of each part. */
  readonly found = new Map<P, Video[]>();
  private readonly byRequest: ReadonlyMap<string | null, PartIndex<P>>;
  private readonly all: PartIndex<P>;
  private readonly tooMany = new Set<P>();
  private readonly mismatches: Finding[] = [];

  constructor(parts: readonly P[], names: CameraNames = new Map()) {
    const requests = Map.groupBy(parts, ({ partnerRequestId }) => partnerRequestId);
    this.byRequest = new Map([...requests].map(([id, own]) => [id, new PartIndex(own, names)]));
    this.all = new PartIndex(parts, names);
  }

  /** `otherRequests` are the ids of our requests that are not in `parts`. */
  add(video: Video, otherRequests: ReadonlySet<string> = new Set()): void {
    const part = this.partOf(video, otherRequests);
    if (part === undefined) return;
    const clips = this.found.get(part);
    if (clips === undefined) this.found.set(part, [video]);
    else if (clips.length < MAX_CLIPS_PER_PART) clips.push(video);
    else this.tooMany.add(part);
  }

  /** The clips that were skipped although their request is known. */
  findings(): Finding[] {
    return [...[...this.tooMany].map(tooManyClips), ...this.mismatches];
  }

  private partOf(video: Video, otherRequests: ReadonlySet<string>): P | undefined {
    const { requestId } = video;
    if (requestId === undefined) return this.all.bestOf(video) ?? this.unknownName(video);
    const index = this.byRequest.get(requestId);
    if (index === undefined) return otherRequests.has(requestId) ? undefined : this.byRequest.get(null)?.bestOf(video);
    const [part, ...others] = index.firstTwo;
    if (part === undefined || others.length > 0) return index.bestOf(video);
    // Partners have reused ids: a clip under our id that shows another truck or another time is not ours.
    if (overlapMs(timesOf(part), timesOf(video)) > 0 && mayBeOneTruck(part.truckId, video.truckId)) return part;
    const reason = `The clip ${video.id} under request ${requestId} shows ${describe(video)}, not ${describe(part)}.`;
    this.mismatch({ path: 'data.videos[].requestId', reason, raw: video });
    return undefined;
  }

  /** Reports a clip without an id that would match if its camera's name were known, and assigns it to no part. */
  private unknownName(video: Video): undefined {
    const part = this.all.bestOfOthers(video);
    if (part === undefined) return;
    const reason = `The clip ${video.id} has no requestId, and nothing says that camera ${video.cameraId} is camera ${part.cameraId}.`;
    this.mismatch({ path: 'data.videos[].cameraId', reason, raw: video });
  }

  private mismatch(finding: Finding): void {
    if (this.mismatches.length < MAX_FINDINGS) this.mismatches.push(finding);
  }
}

/** The finding for a part with more clips than the platform fetches, in one list or in several together. */
export function tooManyClips({ partnerRequestId, ...range }: Omit<WantedPart, 'id'>): Finding {
  const [path, request] =
    partnerRequestId === null
      ? ['data.videos[]', `The request for ${describe(range)}`]
      : ['data.videos[].requestId', `Request ${partnerRequestId}`];
  return { path, reason: `${request} has more than ${MAX_CLIPS_PER_PART} clips; only the first ones are fetched.` };
}

const describe = ({ truckId, cameraId, startTime, endTime }: CameraRange): string =>
  `truck ${truckId}, camera ${cameraId}, from ${formatInstant(startTime)} to ${formatInstant(endTime)}`;

/** Milliseconds since the epoch. */
interface Times {
  readonly start: number;
  readonly end: number;
}

interface TimedPart<P> extends Times {
  readonly part: P;
}

const timesOf = ({ startTime, endTime }: Range): Times => ({
  start: epochMillis(startTime),
  end: epochMillis(endTime),
});

const overlapMs = (one: Times, other: Times): number => Math.min(one.end, other.end) - Math.max(one.start, other.start);

const lengthMs = ({ start, end }: Times): number => end - start;

/** Neighbours overlap by a few seconds where partners cut at key frames: that shows nothing. */
const shows = (clip: Times, part: Times): boolean =>
  overlapMs(clip, part) * 2 > Math.min(lengthMs(clip), lengthMs(part));

/** Of parts that the clip shows equally, the shorter one is closer. */
function isBetter(clip: Times, part: Times, best: Times): boolean {
  const more = overlapMs(clip, part) - overlapMs(clip, best);
  return more > 0 || (more === 0 && lengthMs(part) < lengthMs(best));
}

/** Finds parts by truck, camera and overlap. Sorted, because comparing 25,000 clips with 1,000 parts each took 30 s. */
class PartIndex<P extends CameraRange> {
  private readonly trucks: ReadonlyMap<string, ReadonlyMap<string, SortedParts<P>>>;
  readonly firstTwo: readonly P[];

  constructor(
    parts: readonly P[],
    private readonly names: CameraNames,
  ) {
    this.firstTwo = parts.slice(0, 2);
    const trucks = [...Map.groupBy(parts, ({ truckId }) => truckId)].map(([truckId, own]) => {
      const cameras = [...Map.groupBy(own, ({ cameraId }) => cameraId)];
      return [truckId, new Map(cameras.map(([cameraId, its]) => [cameraId, new SortedParts(its)]))] as const;
    });
    this.trucks = new Map(trucks);
  }

  /** By the name of the clip's camera, or else by another known one. */
  bestOf({ truckId, cameraId, ...range }: CameraRange): P | undefined {
    const cameras = this.trucks.get(truckId);
    if (cameras === undefined) return undefined;
    const found = namesOf(cameraId, this.names.get(truckId) ?? []).map((name) => cameras.get(name)?.bestOf(range));
    return found.find((part) => part !== undefined);
  }

  /** By a camera that may be the clip's, although nobody has said so. */
  bestOfOthers({ truckId, cameraId, ...range }: CameraRange): P | undefined {
    const cameras = [...(this.trucks.get(truckId) ?? [])].filter(([name]) => mayBeAliases(name, cameraId));
    return cameras.map(([, parts]) => parts.bestOf(range)).find((part) => part !== undefined);
  }
}

/** The parts of one camera by their start. Of several with the same times only the first one. */
class SortedParts<P extends Range> {
  private readonly parts: readonly TimedPart<P>[];
  private readonly longestMs: number;

  constructor(parts: readonly P[]) {
    const timed = parts.map((part) => ({ part, ...timesOf(part) })).toReversed();
    const first = new Map(timed.map((part) => [`${part.start} ${part.end}`, part]));
    this.parts = [...first.values()].sort((a, b) => a.start - b.start);
    this.longestMs = this.parts.reduce((longest, part) => Math.max(longest, lengthMs(part)), 0);
  }

  /** The part that the clip shows most of. */
  bestOf(range: Range): P | undefined {
    const clip = timesOf(range);
    let best: TimedPart<P> | undefined;
    for (let i = this.indexFrom(clip.start - this.longestMs); i < this.parts.length; i++) {
      const each = this.parts[i];
      if (each === undefined || each.start >= clip.end) break;
      if (shows(clip, each) && (best === undefined || isBetter(clip, each, best))) best = each;
    }
    return best?.part;
  }

  /** The index of the first part that starts at `start` or later, by binary search. */
  private indexFrom(start: number): number {
    let [low, high] = [0, this.parts.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.parts[middle]?.start ?? Infinity) < start) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const MAX_TOLERANCE_MS = 10_000;
const TOLERANCE_SHARE = 0.25;

/** Partners cut at key frames: each end of a clip may differ this much from the requested range. */
const toleranceMs = (range: Times): number => Math.min(MAX_TOLERANCE_MS, lengthMs(range) * TOLERANCE_SHARE);

/**
 * Whether clips together show a whole part, except what was cut off at key frames. A gap must be shorter than half of
 * the shortest clip, so that no clip of an hour in pieces of four seconds can be absent.
 */
export function covers(clips: readonly Range[], part: Range): boolean {
  const { start, end } = timesOf(part);
  const sorted = clips.map(timesOf).sort((one, other) => one.start - other.start);
  const shortest = Math.min(...sorted.map((clip) => clip.end - clip.start));
  const maxGapMs = Math.min(toleranceMs({ start, end }), shortest / 2);
  let until = start;
  for (const clip of sorted) {
    if (clip.start - until > maxGapMs) return false;
    until = Math.max(until, clip.end);
  }
  return end - until <= maxGapMs;
}
