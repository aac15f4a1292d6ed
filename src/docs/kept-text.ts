import { createHash } from 'node:crypto';
import type { RequestHandler, Response } from 'express';
import { matchesEtag } from '../http/etag.js';

interface KeptText {
  readonly type: string;
  readonly bytes: Buffer;
  readonly etag: string;
}

/**
 * Stands before a handler that sends the same text at each request, and lets it make that text only once: YAML of the
 * largest document takes a tenth of a second, and nobody needs a key to ask for it. Sent with an entity tag.
 */
export function keptText(): RequestHandler {
  let kept: KeptText | undefined;
  return (request, response, next) => {
    const answer = (text: KeptText) => sendText(text, request.headers['if-none-match'], response);
    if (kept !== undefined) {
      answer(kept);
      return;
    }
    response.send = (text: string) => {
      kept = keep(text, String(response.getHeader('Content-Type')));
      answer(kept);
      return response;
    };
    next();
  };
}

function keep(text: string, type: string): KeptText {
  const bytes = Buffer.from(text);
  return { type, bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` };
}

function sendText({ type, bytes, etag }: KeptText, ifNoneMatch: string | undefined, response: Response): void {
  response.setHeader('ETag', etag);
  if (matchesEtag(ifNoneMatch, etag)) {
    response.removeHeader('Content-Type');
    response.status(304).end();
    return;
  }
  response.setHeader('Content-Type', type);
  response.setHeader('Content-Length', bytes.length);
  response.end(bytes);
}
