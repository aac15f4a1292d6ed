import type { Request } from 'express';

/** A percent sign that begins no escape. */
export const STRAY_PERCENT = /%(?![0-9a-f]{2})/gi;

/**
 * Takes what is no percent-encoded text in a path, such as `%zz`, for what it literally says. Express would refuse it
 * before any guard has run; so it is an id like any other that is none (decision 3).
 */
export function readLiterally(request: Request): void {
  const { url } = request;
  if (!url.includes('%')) return;
  const [path = '', ...query] = url.split('?');
  // What was asked is still told as it came.
  request.originalUrl = url;
  request.url = [literal(path), ...query].join('?');
}

/** Where one escape is not UTF-8 all are taken literally: to find out which costs an error each, and a path may have thousands. */
function literal(path: string): string {
  const loose = path.replaceAll(STRAY_PERCENT, '%25');
  return isDecodable(loose) ? loose : path.replaceAll('%', '%25');
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
