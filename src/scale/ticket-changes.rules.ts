import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, withoutByteOrderMark } from '../contracts/common/json.js';

/** The top-level fields that two bodies do not have in common, sorted. The order of the members does not matter. */
export function changedFields(before: string, after: string): string[] {
  const [one, other] = [before, after].map((text): unknown => JSON.parse(withoutByteOrderMark(text)));
  if (!isJsonObject(one) || !isJsonObject(other)) return [];
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].filter((name) => !isDeepStrictEqual(one[name], other[name])).sort();
}
