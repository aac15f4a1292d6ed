import { epochMillis, formatInstant } from '../../contracts/common/instant.js';
import type { Video } from '../../contracts/vision/vision.dto.js';
import type { Finding } from '../client/read-list.rules.js';
import {
  comparableName,
  mayBeAliases,
  mayBeOneTruck,
  type NamePair,
  namesOf,
} from '../recordings/camera-names.rules.js';
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

/**
 * Assigns listed clips to parts, clip by clip: by `requestId`, or by truck, camera and range where the partner sends no id
 * or the same id for several requests. An id that no request has may belong to a part whose 202 carried no id.
 * Another name of a camera counts only where the partner itself returned it for that camera, and no exact match exists.
 */
export class ClipMatcher<P extends WantedPart> {
  /** The first clips of each part. */
  readonly found = new Map<P, Video[]>();
  private readonly byRequest: ReadonlyMap<string | undefined, readonly P[]>;
  private readonly all: PartIndex<P>;
  private readonly withoutId: PartIndex<P>;
  private readonly indexOfRequest = new Map<string, PartIndex<P>>();
  private readonly tooMany = new Set<P>();
  private readonly mismatches: Finding[] = [];

  /** `names` are the known names of each truck's cameras. */
  constructor(
    parts: readonly P[],
    private readonly names: CameraNames = new Map(),
  ) {
    this.byRequest = Map.groupBy(parts, ({ partnerRequestId }) => partnerRequestId ?? undefined);
    this.all = new PartIndex(parts, names);
    this.withoutId = new PartIndex(this.byRequest.get(undefined) ?? [], names);
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
    if (requestId === undefined) return this.all.closestTo(video) ?? this.unknownName(video);
    const parts = this.byRequest.get(requestId) ?? [];
    const [part] = parts;
    if (part === undefined) return otherRequests.has(requestId) ? undefined : this.withoutId.closestTo(video);
    const index = this.indexOfRequest.get(requestId) ?? new PartIndex(parts, this.names);
    this.indexOfRequest.set(requestId, index);
    if (parts.length > 1) return index.closestTo(video);
    if (isPlausible(part, video, index)) return part;
    const reason = `The clip ${video.id} under request ${requestId} shows ${describe(video)}, not ${describe(part)}.`;
    this.mismatches.push({ path: 'data.videos[].requestId', reason, raw: video });
    return undefined;
  }

  /** Reports a clip without an id that would match if its camera's name were known, and assigns it to no part. */
  private unknownName(video: Video): undefined {
    const part = this.all.inRange(video).find(({ cameraId }) => mayBeAliases(cameraId, video.cameraId));
    if (part === undefined) return;
    const reason = `The clip ${video.id} has no requestId, and nothing says that camera ${video.cameraId} is camera ${part.cameraId}.`;
    this.mismatches.push({ path: 'data.videos[].cameraId', reason, raw: video });
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

/**
 * Partners have reused ids: a clip under our id that shows another truck or another time is not ours. A truck with a
 * different spelling is accepted where camera and range match.
 */
function isPlausible<P extends WantedPart>(part: P, video: Video, index: PartIndex<P>): boolean {
  const { truckId, startTime, endTime } = part;
  if (comparableName(truckId) !== comparableName(video.truckId)) {
    return mayBeOneTruck(truckId, video.truckId) && index.closestTo({ ...video, truckId }) === part;
  }
  return video.startTime < endTime && video.endTime > startTime;
}

/** Milliseconds since the epoch. */
interface Times {
  readonly start: number;
  readonly end: number;
}

interface TimedPart<P> extends Times {
  readonly part: P;
  readonly position: number;
}

/** The parts of one truck by camera, each list sorted by start. */
type TruckParts<P> = ReadonlyMap<string, readonly TimedPart<P>[]>;

/** By the comparable name of the truck. */
export type CameraNames = ReadonlyMap<string, readonly NamePair[]>;

/** Finds parts by truck, camera and range. Sorted, because comparing 25,000 clips with 1,000 parts each took 30 s. */
class PartIndex<P extends CameraRange> {
  private readonly trucks = new Map<string, TruckParts<P>>();

  constructor(
    parts: readonly P[],
    private readonly names: CameraNames,
  ) {
    const timed = parts.map((part, position) => ({ part, ...timesOf(part), position }));
    for (const [truck, own] of Map.groupBy(timed, ({ part }) => comparableName(part.truckId))) {
      this.trucks.set(truck, sortedByStart(Map.groupBy(own, ({ part }) => comparableName(part.cameraId))));
    }
  }

  /** The closest part of the same camera, by its name or else by another known one. The first of several equally close ones. */
  closestTo({ cameraId, ...clip }: CameraRange): P | undefined {
    const truck = comparableName(clip.truckId);
    const parts = this.trucks.get(truck);
    if (parts === undefined) return undefined;
    const times = timesOf(clip);
    const names = [cameraId, ...namesOf(cameraId, this.names.get(truck) ?? [])].map(comparableName);
    for (const name of new Set(names)) {
      const part = closest(parts.get(name), times);
      if (part !== undefined) return part;
    }
    return undefined;
  }

  /** The closest part of each camera of the truck. */
  inRange(clip: CameraRange): P[] {
    const parts = [...(this.trucks.get(comparableName(clip.truckId))?.values() ?? [])];
    return parts.map((each) => closest(each, timesOf(clip))).filter((part) => part !== undefined);
  }
}

const timesOf = ({ startTime, endTime }: Range): Times => ({
  start: epochMillis(startTime),
  end: epochMillis(endTime),
});

/** Keeps the first of several parts with the same times: the others are never closer. */
function sortedByStart<K, P>(groups: ReadonlyMap<K, readonly TimedPart<P>[]>): Map<K, readonly TimedPart<P>[]> {
  const sorted = [...groups].map(([key, parts]): [K, readonly TimedPart<P>[]] => {
    const first = new Map(parts.toReversed().map((part) => [`${part.start} ${part.end}`, part]));
    return [key, [...first.values()].sort((a, b) => a.start - b.start)];
  });
  return new Map(sorted);
}

const MAX_TOLERANCE_MS = 10_000;
const TOLERANCE_SHARE = 0.25;

/** Partners cut at key frames: each end of a clip may differ this much from the requested range. */
const toleranceMs = ({ start, end }: Times): number => Math.min(MAX_TOLERANCE_MS, (end - start) * TOLERANCE_SHARE);

function closest<P>(parts: readonly TimedPart<P>[] = [], clip: Times): P | undefined {
  let best: { readonly timed: TimedPart<P>; readonly distance: number } | undefined;
  for (let i = indexFrom(parts, clip.start - MAX_TOLERANCE_MS); i < parts.length; i++) {
    const timed = parts[i];
    if (timed === undefined || timed.start > clip.start + MAX_TOLERANCE_MS) break;
    const distance = distanceMs(timed, clip);
    if (distance === undefined || (best !== undefined && best.distance < distance)) continue;
    if (best === undefined || distance < best.distance || timed.position < best.timed.position) {
      best = { timed, distance };
    }
  }
  return best?.timed.part;
}

/** The index of the first part that starts at `start` or later, by binary search. */
function indexFrom(parts: readonly Times[], start: number): number {
  let [low, high] = [0, parts.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((parts[middle]?.start ?? Infinity) < start) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Undefined where the ranges do not match. */
function distanceMs(part: Times, clip: Times): number | undefined {
  const tolerance = toleranceMs(part);
  const [start, end] = [Math.abs(clip.start - part.start), Math.abs(clip.end - part.end)];
  return start <= tolerance && end <= tolerance ? start + end : undefined;
}

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
