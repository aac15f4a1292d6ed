import type { Request } from 'express';

/** The value of a cookie of a request. A proxy may send each cookie in a line of its own (RFC 9113, section 8.2.3): Node joins them. */
export function cookieValue({ headers }: Pick<Request, 'headers'>, name: string): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
}
