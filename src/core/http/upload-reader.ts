import type { Request } from 'express';
import { AppError } from '../errors/app-error.js';
import { bodyLimits, chunksOf, grantContinue, tooLarge } from './body-reader.js';
import { mediaTypeOf } from './headers.js';

/** The chunks of a `video/mp4` body. A sender that pauses too long is a `requestTimeout`. */
export function readVideo(request: Request): AsyncIterable<Buffer> {
  requireType(request, 'video/mp4', 'Content-Type: video/mp4');
  return chunks(request);
}

/** The chunks of a `text/csv` body of at most `maxBytes`. What the headers show is refused before any is read. */
export function readCsv(request: Request, maxBytes: number): AsyncIterable<Buffer> {
  requireType(request, 'text/csv', 'Content-Type: text/csv, in UTF-8', /^utf-?8$/);
  if (Number(request.headers['content-length']) > maxBytes) throw tooLarge(maxBytes);
  return atMost(maxBytes, request);
}

async function* atMost(maxBytes: number, request: Request): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks(request)) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    yield chunk;
  }
}

function requireType({ headers }: Request, needed: string, sentence: string, charsets?: RegExp): void {
  const { type, charset = 'utf-8' } = mediaTypeOf(headers['content-type']);
  const isReadable = headers['content-encoding'] === undefined && (charsets === undefined || charsets.test(charset));
  if (type === needed && isReadable) return;
  throw new AppError('unsupportedMediaType', `the body must be sent as ${sentence}, without a content coding`);
}

function chunks(request: Request): AsyncIterable<Buffer> {
  grantContinue(request);
  const timeoutMs = bodyLimits(request).timeouts.uploadPause;
  return chunksOf(request, {
    timeoutMs,
    refusal: `the upload paused for more than ${timeoutMs / 1000} s`,
    ofAll: false,
  });
}
