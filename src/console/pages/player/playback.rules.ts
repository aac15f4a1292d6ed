import type { StoredRecording } from '../../../contracts/admin/recordings.routes.js';

/** A stored file of one camera; times in milliseconds since the epoch. */
export interface Chunk {
  readonly id: string;
  readonly cameraId: string;
  readonly start: number;
  readonly end: number;
}

/** The files that can be played, in order of their start, each under the name by which the page knows its camera. */
export function chunksOf(
  recordings: readonly StoredRecording[],
  nameOf: (cameraId: string) => string = (name) => name,
): Chunk[] {
  return recordings
    .filter(({ status }) => status === 'stored')
    .map(({ id, cameraId, startTime, endTime }) => {
      return { id, cameraId: nameOf(cameraId), start: Date.parse(startTime), end: Date.parse(endTime) };
    })
    .sort((one, other) => one.start - other.start || other.end - one.end);
}

/** The file of a camera at a moment. `current` stays as long as it lasts, although a clip may overlap it. */
export function chunkAt(chunks: readonly Chunk[], cameraId: string, time: number, current?: string): Chunk | undefined {
  const there = chunks.filter((chunk) => chunk.cameraId === cameraId && chunk.start <= time && time < chunk.end);
  return there.find(({ id }) => id === current) ?? there[0];
}

/** The start of the next file of any of these cameras after a moment without one. */
function nextStart(chunks: readonly Chunk[], cameras: readonly string[], time: number): number | undefined {
  return chunks.find(({ cameraId, start }) => start > time && cameras.includes(cameraId))?.start;
}

/** Where playing goes on at a moment: there, after a gap, or nowhere. */
export function resumeAt(
  chunks: readonly Chunk[],
  cameras: readonly string[],
  time: number,
): { readonly time: number; readonly gapMs: number } | undefined {
  if (cameras.some((cameraId) => chunkAt(chunks, cameraId, time) !== undefined)) return { time, gapMs: 0 };
  const next = nextStart(chunks, cameras, time);
  return next === undefined ? undefined : { time: next, gapMs: next - time };
}

export const camerasOf = (chunks: readonly Chunk[]): string[] =>
  [...new Set(chunks.map(({ cameraId }) => cameraId))].sort();

/** Cameras beside each other, and below each other; on a phone too. */
export function gridOf(count: number): Readonly<Record<string, number>> {
  const columns = count < 2 ? 1 : count <= 4 ? 2 : 3;
  const narrow = count <= 2 ? 1 : 2;
  return {
    '--columns': columns,
    '--rows': Math.ceil(count / columns),
    '--narrow-columns': narrow,
    '--narrow-rows': Math.ceil(count / narrow),
  };
}
