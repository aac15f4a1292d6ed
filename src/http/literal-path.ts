import type { Request } from 'express';

/**
 * Takes the parts of a path that are no percent-encoded text, such as `%zz`, for what they literally say. Express would
 * refuse them before any guard has run; so they are ids like any other that is none (decision 3).
 */
export function readLiterally(request: Request): void {
  const { url } = request;
  if (!url.includes('%')) return;
  const [path = '', ...query] = url.split('?');
  const literal = path.split('/').map((part) => (isDecodable(part) ? part : part.replaceAll('%', '%25')));
  // What was asked is still told as it came.
  request.originalUrl = url;
  request.url = [literal.join('/'), ...query].join('?');
}

function isDecodable(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}
