import type { Request } from 'express';
import type { RequestHook } from './request-hook.js';
import type { ServerLimits } from './server-limits.js';

/** A body that no route reads is swallowed after the answer, but not for as long as its sender likes. */
export function endUnreadBodies({ unreadBody }: ServerLimits): RequestHook {
  return (request, response) => {
    if (!hasBody(request)) return;
    response.once('finish', () => {
      if (!request.complete) setTimeout(() => endUnlessComplete(request), unreadBody).unref();
    });
  };
}

/** As RFC 9112, section 6.3 tells it. */
export function hasBody({ headers }: Pick<Request, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function endUnlessComplete(request: Request): void {
  if (!request.complete) request.socket.destroy();
}
