import type { CameraSweep } from './coverage.rules.js';

/** Recordings as PostgreSQL packs them: times of eight bytes each, and a digit for the state of each. */
export interface PackedRecordings {
  readonly starts: Buffer;
  readonly ends: Buffer;
  readonly ranks: string;
}

/** Microseconds since the epoch. */
export interface Recorded {
  readonly start: number;
  readonly end: number;
  /** Of `RANK`. */
  readonly rank: number;
}

/** PostgreSQL counts microseconds from here. */
const ORIGIN = Date.UTC(2000, 0, 1) * 1000;
const HIGH = 2 ** 32;

const ZERO = '0'.charCodeAt(0);

function times(bytes: Buffer): Float64Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const all = new Float64Array(bytes.length / 8);
  for (let i = 0; i < all.length; i++) all[i] = ORIGIN + view.getInt32(i * 8) * HIGH + view.getUint32(i * 8 + 4);
  return all;
}

export function unpacked({ starts, ends, ranks }: PackedRecordings): Recorded[] {
  const endTimes = times(ends);
  return Array.from(times(starts), (start, i) => ({ start, end: endTimes[i] ?? 0, rank: ranks.charCodeAt(i) - ZERO }));
}

/** Adds the recordings of all names of a camera that start in one slice of time. */
export function sweep(camera: CameraSweep, names: readonly PackedRecordings[], pieces: readonly Recorded[]): void {
  const [only] = names;
  if (only !== undefined && names.length === 1 && pieces.length === 0 && sweepSorted(camera, only)) return;
  const all = [...names.flatMap(unpacked), ...pieces].sort((one, other) => one.start - other.start);
  for (const { start, end, rank } of all) camera.add(start, end, rank);
}

/** Without an object for each. False if they are not in order: they come from an index, but a plan may take another one. */
function sweepSorted(camera: CameraSweep, { starts, ends, ranks }: PackedRecordings): boolean {
  const [from, to] = [times(starts), times(ends)];
  for (let i = 1; i < from.length; i++) if ((from[i - 1] as number) > (from[i] as number)) return false;
  for (let i = 0; i < from.length; i++) camera.add(from[i] as number, to[i] as number, ranks.charCodeAt(i) - ZERO);
  return true;
}
