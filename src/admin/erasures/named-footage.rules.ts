import { type Instant, parseInstant, strictTime } from '../../contracts/common/instant.js';

/** How a part of a list names a truck: partners send the name as text, some as a number. */
export const truckTexts = (truckId: string): string[] => {
  const quoted = JSON.stringify(truckId);
  return /^\d+$/.test(truckId) ? [quoted, `:${truckId},`, `:${truckId}}`] : [quoted];
};

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
