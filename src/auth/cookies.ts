import type { Request } from 'express';
import { soleHeader } from '../http/headers.js';

/** The value of a cookie of a request. */
export function cookieValue(request: Pick<Request, 'rawHeaders'>, name: string): string | undefined {
  const pairs = (soleHeader(request, 'cookie') ?? '').split(/; */);
  return pairs.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
}
