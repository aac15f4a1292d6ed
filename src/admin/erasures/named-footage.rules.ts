import { type Instant, parseInstant, strictTime } from '../../contracts/common/instant.js';

const TRUCKS = /"truckId":("[^"\\]*(?:\\.[^"\\]*)*"|-?[\d.eE+-]+)(?=[,}])/g;

/**
 * Whether a part of a list has the truck as its `truckId`, whole: a text, or a number as some partners send it. The part is JSON as the
 * service writes it, and may be cut.
 */
export const isOfTruck = (raw: string, truckId: string): boolean =>
  [...raw.matchAll(TRUCKS)].some(([, value = '']) => String(JSON.parse(value)) === truckId);

const TIMES = /"(startTime|endTime)":"([^"]*)"/g;

const timeOf = (text: string): Instant | undefined => parseInstant(text) ?? parseInstant(strictTime(text) ?? '');

/**
 * Whether a part that names the truck is of the range. A part is as the partner sent it, with its errors, and may be cut: one
 * without two times that can be read may be of the range, and counts.
 */
export function isOfRange(raw: string, { from, to }: { readonly from: string; readonly to: string }): boolean {
  const times = [...raw.matchAll(TIMES)].map(([, , text = '']) => timeOf(text));
  const known = times.filter((time) => time !== undefined).sort();
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined || known.length < 2 || known.length < times.length) return true;
  return first < to && last > from;
}
