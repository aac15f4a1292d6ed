/** Both ends included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * What a `Range` header means for so many bytes (RFC 9110, 14.1.2). `whole` where it names several parts that are there:
 * they would be an answer in several bodies. A malformed one is `unsatisfiable` too (decision 46).
 */
export function byteRange(header: string, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  const [unit, specs = ''] = header.split(/=(.*)/s);
  if (unit?.toLowerCase() !== 'bytes') return 'unsatisfiable';
  const ranges = specs.split(',').map((spec) => rangeOf(spec, size));
  if (ranges.includes(undefined)) return 'unsatisfiable';
  const [range, ...others] = ranges.filter((each) => each !== undefined && each.start <= each.end);
  if (range === undefined) return 'unsatisfiable';
  return others.length === 0 ? range : 'whole';
}

/** Its start is behind its end where none of it is there; undefined where it is malformed. */
function rangeOf(spec: string, size: number): ByteRange | undefined {
  // Trimmed first: blanks at both ends of the pattern would be tried again from each of a long run.
  const [, first, last] = /^(\d*)\s*-\s*(\d*)$/.exec(spec.trim()) ?? [];
  if (first === undefined || last === undefined || first + last === '') return undefined;
  // The last so many bytes, of which there may be fewer.
  if (first === '') return { start: Math.max(0, size - Number(last)), end: size - 1 };
  return { start: Number(first), end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}
