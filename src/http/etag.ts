/**
 * Whether the reader of `If-None-Match` has just this already: by weak comparison, as RFC 9110, section 13.1.2 asks for.
 * Both with quotes, and with `W/` where they are weak.
 */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  const given = ifNoneMatch?.split(',').map((tag) => tag.trim()) ?? [];
  return given.some((tag) => tag === '*' || opaque(tag) === opaque(etag));
}

const opaque = (tag: string) => tag.replace(/^W\//, '');
