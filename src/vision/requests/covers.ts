import { type Shown, timesOf, toleranceMs } from './closest-part.js';

type Range = Pick<Shown, 'startTime' | 'endTime'>;

/**
 * Whether clips together show the whole of a part, but for what key frames cut off: less than the shortest of them is
 * long, for of an hour in pieces of four seconds none may lack.
 */
export function covers(clips: readonly Range[], part: Range): boolean {
  const { start, end } = timesOf(part);
  const sorted = clips.map(timesOf).sort((one, other) => one.start - other.start);
  const shortest = Math.min(...sorted.map((clip) => clip.end - clip.start));
  const most = Math.min(toleranceMs({ start, end }), shortest / 2);
  let until = start;
  for (const clip of sorted) {
    if (clip.start - until > most) return false;
    until = Math.max(until, clip.end);
  }
  return end - until <= most;
}
