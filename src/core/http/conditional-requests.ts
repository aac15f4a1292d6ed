/** Offsets in bytes; both ends are included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Evaluates a `Range` header for a file of `size` bytes (RFC 9110, section 14.1.2). Returns `whole` for several ranges,
 * which would need a multipart response. A malformed header is `unsatisfiable` too (decision 46).
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

/** `start` is after `end` for a range outside the file; undefined for a malformed one. */
function rangeOf(spec: string, size: number): ByteRange | undefined {
  // Trimmed first: a pattern with blanks at both ends takes quadratic time on a long run of blanks.
  const [, first, last] = /^(\d*)\s*-\s*(\d*)$/.exec(spec.trim()) ?? [];
  if (first === undefined || last === undefined || first + last === '') return undefined;
  if (first === '') return { start: Math.max(0, size - Number(last)), end: size - 1 };
  return { start: Number(first), end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}

/**
 * Whether `If-None-Match` names this entity tag, by weak comparison (RFC 9110, section 13.1.2). `etag` has its quotes, and
 * `W/` if it is weak.
 */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = ifNoneMatch?.split(',').map((tag) => tag.trim()) ?? [];
  return tags.some((tag) => tag === '*' || withoutWeakMark(tag) === withoutWeakMark(etag));
}

const withoutWeakMark = (tag: string) => tag.replace(/^W\//, '');
