import { formatInstant } from '../../contracts/common/instant.js';
import type { Video } from '../../contracts/vision/vision.api.js';
import { type Finding, MAX_FINDINGS } from '../client/read-list.rules.js';
import { mayBeAliases, mayBeOneTruck, type NamePair, namesOf } from '../recordings/camera-names.rules.js';
import { MAX_CLIPS_PER_PART } from '../recordings/recording.rules.js';
import { gaps, lengthMs, overlap, type Range, type Span, spanOf } from '../range.js';
import type { CameraKey } from '../truck.js';

/** A camera of a truck and a time range. */
interface CameraRange extends Range, Pick<CameraKey, 'truckId' | 'cameraId'> {}

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
  private readonly requests: ReadonlyMap<string | null, PartIndex<P>>;
  private readonly all: PartIndex<P>;
  private readonly tooMany = new Set<P>();
  private readonly mismatches: Finding[] = [];

  constructor(
    parts: readonly P[],
    private readonly names: CameraNames = new Map(),
  ) {
    const requests = Map.groupBy(parts, ({ partnerRequestId }) => partnerRequestId);
    this.requests = new Map([...requests].map(([id, own]) => [id, indexOf(own)]));
    this.all = indexOf(parts);
  }

  /** `otherRequests` are the ids of our requests that are not in `parts`. */
  add(video: Video, otherRequests: ReadonlySet<string> = new Set()): void {
    const part = this.partOf(video, spanOf(video), otherRequests);
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

  private partOf(video: Video, clip: Span, otherRequests: ReadonlySet<string>): P | undefined {
    const { requestId } = video;
    if (requestId === undefined) return this.bestOf(this.all, video, clip) ?? this.unknownName(video, clip);
    const index = this.requests.get(requestId);
    if (index === undefined) {
      return otherRequests.has(requestId) ? undefined : this.bestOf(this.requests.get(null), video, clip);
    }
    const [parts = []] = index.values();
    const only = index.size === 1 && parts.length === 1 ? parts[0] : undefined;
    if (only === undefined) return this.bestOf(index, video, clip);
    // Partners have reused ids: a clip under our id that shows another truck or another time is not ours.
    if (overlap(only, clip) > 0 && mayBeOneTruck(only.part.truckId, video.truckId)) return only.part;
    const reason = `The clip ${video.id} under request ${requestId} shows ${describe(video)}, not ${describe(only.part)}.`;
    this.mismatch({ path: 'data.videos[].requestId', reason, raw: video });
    return undefined;
  }

  /** By the name of the clip's camera, or else by another known one. */
  private bestOf(index: PartIndex<P> | undefined, { truckId, cameraId }: Video, clip: Span): P | undefined {
    const names = namesOf(cameraId, this.names.get(truckId) ?? []);
    return firstOf(names, (name) => bestOf(clip, index?.get(keyOf(truckId, name))));
  }

  /** Reports a clip without an id that would match if its camera's name were known, and assigns it to no part. */
  private unknownName(video: Video, clip: Span): undefined {
    const cameras = [...this.all.values()].filter(
      ([first]) => first?.part.truckId === video.truckId && mayBeAliases(first.part.cameraId, video.cameraId),
    );
    const part = firstOf(cameras, (parts) => bestOf(clip, parts));
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

interface TimedPart<P> extends Span {
  readonly part: P;
}

/** The parts of each camera by their start: of several with the same times the first one counts. */
type PartIndex<P> = ReadonlyMap<string, readonly TimedPart<P>[]>;

const keyOf = (truckId: string, cameraId: string): string => JSON.stringify([truckId, cameraId]);

function indexOf<P extends CameraRange>(parts: readonly P[]): PartIndex<P> {
  const timed = parts.map((part) => ({ part, ...spanOf(part) })).sort((a, b) => a.start - b.start);
  return Map.groupBy(timed, ({ part }) => keyOf(part.truckId, part.cameraId));
}

function firstOf<T, Found>(all: readonly T[], find: (one: T) => Found | undefined): Found | undefined {
  for (const each of all) {
    const found = find(each);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The part that the clip shows most of. */
function bestOf<P>(clip: Span, parts: readonly TimedPart<P>[] = []): P | undefined {
  let best: TimedPart<P> | undefined;
  for (const each of parts) {
    if (shows(clip, each) && (best === undefined || isBetter(clip, each, best))) best = each;
  }
  return best?.part;
}

/** Neighbours overlap by a few seconds where partners cut at key frames: that shows nothing. */
const shows = (clip: Span, part: Span): boolean => overlap(clip, part) * 2 > Math.min(lengthMs(clip), lengthMs(part));

/** Of parts that the clip shows equally, the shorter one is closer. */
function isBetter(clip: Span, part: Span, best: Span): boolean {
  const more = overlap(clip, part) - overlap(clip, best);
  return more > 0 || (more === 0 && lengthMs(part) < lengthMs(best));
}

const MAX_TOLERANCE_MS = 10_000;
const TOLERANCE_SHARE = 0.25;

/** Partners cut at key frames: each end of a clip may differ this much from the requested range. */
const toleranceMs = (range: Span): number => Math.min(MAX_TOLERANCE_MS, lengthMs(range) * TOLERANCE_SHARE);

/**
 * Whether clips together show a whole part, except what was cut off at key frames. A gap must be shorter than half of
 * the shortest clip, so that no clip of an hour in pieces of four seconds can be absent.
 */
export function covers(clips: readonly Range[], part: Range): boolean {
  const [whole, shown] = [spanOf(part), clips.map(spanOf)];
  const maxGapMs = Math.min(toleranceMs(whole), Math.min(...shown.map(lengthMs)) / 2);
  return gaps(whole, shown).every((gap) => lengthMs(gap) <= maxGapMs);
}
