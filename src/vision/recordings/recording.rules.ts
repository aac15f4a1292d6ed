import { epochMillis, type Instant, instantOf } from '../../contracts/common/instant.js';
import type { Recording, Video } from '../../contracts/vision/vision.api.js';
import { monthsOf } from '../../core/database/partitions.rules.js';
import { defineStates, type StateOf } from '../../core/work/states.js';
import { isNameOf, isSameCamera, type NamePair } from './camera-names.rules.js';
import { storageName } from '../../core/storage/storage-names.js';

/** Maximum number of clips that the platform fetches for one part. An hour in pieces of four seconds has 900. */
export const MAX_CLIPS_PER_PART = 1_000;

/** A recording counts for so long at most: coverage looks back so far for recordings that reach into a time. */
export const MAX_MS = 31 * 86_400_000;

/** The transitions of a recording. */
export const RECORDING_STATES = defineStates('a recording', {
  available: ['stored', 'expired', 'failed'],
  // Both are revived by a new listing and by an admin, unless retention deleted the file.
  expired: ['available'],
  failed: ['available'],
  // By retention.
  stored: ['expired'],
});

export type RecordingState = StateOf<typeof RECORDING_STATES>;

/** What an admin sees: an available recording whose file is being fetched is shown as `downloading`. */
export type ShownState = RecordingState | 'downloading';

/** The assumed lifetime of a link without an expiry. It only affects the order of downloads. */
const ASSUMED_LINK_LIFETIME_MS = 3_600_000;

/** Until when a file should be fetched. Downloads run in this order (decision 47). */
export function fetchBy(expiresAt: Instant | undefined, now: number): Date {
  return new Date(expiresAt === undefined ? now + ASSUMED_LINK_LIFETIME_MS : epochMillis(expiresAt));
}

export interface StoredGap {
  readonly startTime: string;
  readonly endTime: string;
  readonly reason: string;
}

/**
 * The times within a clip that were not recorded. If the partner does not send `gaps`, a clip that is more than a second
 * shorter than its range has a gap at its end. A duration of 0 is unknown.
 */
export function gapsOf({ startTime, endTime, durationSeconds, gaps }: Video): StoredGap[] {
  if (gaps !== undefined) {
    return gaps
      .map((gap) => ({
        startTime: gap.startTime > startTime ? gap.startTime : startTime,
        endTime: gap.endTime < endTime ? gap.endTime : endTime,
        reason: 'The partner did not record this part of the clip.',
      }))
      .filter((gap) => gap.startTime < gap.endTime);
  }
  const end = epochMillis(startTime) + durationSeconds * 1000;
  if (durationSeconds === 0 || epochMillis(endTime) - end <= 1000) return [];
  const reason = `The clip has ${durationSeconds} s of video; the partner does not say which part is missing.`;
  return [{ startTime: instantOf(new Date(end)), endTime, reason }];
}

/** A stored recording that matches a listed chunk. */
export interface KnownChunk {
  /** The index of the listed chunk. */
  readonly place: number;
  readonly id: string;
  /** Its start, as PostgreSQL reads it. */
  readonly start: string;
  readonly status: string;
  readonly camera: string;
  readonly same_range: boolean;
  /** The stored range contains the listed one, with a tolerance. */
  readonly covered: boolean;
}

/** The chunk is longer than when its file was fetched, so the partner has another file now. */
export const hasGrown = ({ status, covered }: KnownChunk): boolean => !covered && status === 'stored';

/** Whether any row needs the other names of its camera to be recognised. */
export const hasOtherNames = (chunks: readonly Recording[], rows: readonly KnownChunk[]): boolean =>
  rows.some(({ place, camera }) => !isSameCamera(camera, chunks[place]?.cameraId ?? ''));

/**
 * The first row of each chunk. Another name of the camera counts where no listed chunk has that row's own camera. `pairs`
 * are the known names of each truck's cameras.
 */
export function knownByCamera(
  chunks: readonly Recording[],
  rows: readonly KnownChunk[],
  pairs: ReadonlyMap<string, readonly NamePair[]> = new Map(),
): Map<number, KnownChunk> {
  const known = new Map<number, KnownChunk>();
  const assigned = new Set<string>();
  const assign = (row: KnownChunk): void => {
    known.set(row.place, row);
    assigned.add(row.id);
  };
  const listedCamera = ({ place }: KnownChunk): string => chunks[place]?.cameraId ?? '';
  for (const row of rows) {
    if (!known.has(row.place) && isSameCamera(row.camera, listedCamera(row))) assign(row);
  }
  for (const row of rows) {
    const isFree = !known.has(row.place) && !assigned.has(row.id);
    const names = pairs.get(chunks[row.place]?.truckId ?? '') ?? [];
    if (isFree && isNameOf(row.camera, listedCamera(row), names)) assign(row);
  }
  return known;
}

/** Removes duplicates within a page by id and by range. The later element has the newer link. */
export function distinctChunks(chunks: readonly Recording[]): Recording[] {
  const kept = new Map<string, Recording>();
  const keyOfId = new Map<string, string>();
  for (const chunk of chunks) {
    const { id, truckId, cameraId, startTime, endTime } = chunk;
    const idKey = JSON.stringify([id, truckId, cameraId]);
    const earlier = kept.get(keyOfId.get(idKey) ?? '');
    const isSame = earlier !== undefined && earlier.startTime < endTime && earlier.endTime > startTime;
    const key = isSame ? (keyOfId.get(idKey) ?? '') : rangeKey(chunk);
    kept.set(key, chunk);
    keyOfId.set(idKey, key);
  }
  return [...new Map([...kept.values()].map((chunk) => [rangeKey(chunk), chunk])).values()];
}

const rangeKey = ({ truckId, cameraId, startTime, endTime }: Recording): string =>
  JSON.stringify([truckId, cameraId, startTime, endTime]);

/** The months of some recordings, as the bounds of their partitions. */
export function monthsOfRows(rows: readonly { readonly start_time: Date }[]): readonly [Date, Date] {
  const times = rows.map(({ start_time: start }) => start.getTime());
  return monthsOf(Math.min(...times), Math.max(...times));
}

/** The folder in the storage. */
export const RECORDINGS_FOLDER = 'recordings';

/** The name of a recording's file in the storage. */
export const recordingFile = (id: string): string => storageName(RECORDINGS_FOLDER, id);
