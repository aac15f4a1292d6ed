import type { Request } from 'express';
import { AppError } from '../errors/app-error.js';
import { bodyLimits, chunksOf, grantContinue, tooLarge } from './body-reader.js';

/** The chunks of a `video/mp4` body. A sender that pauses too long is a `requestTimeout`. */
export function readVideo(request: Request): AsyncIterable<Buffer> {
  return readUpload(request, /^video\/mp4 *(;|$)/i, 'Content-Type: video/mp4');
}

/** The chunks of a `text/csv` body of at most `maxBytes`. */
export async function* readCsv(request: Request, maxBytes: number): AsyncGenerator<Buffer> {
  const type = /^text\/csv *(; *(charset="?utf-?8"?|header=\w+) *)*$/i;
  if (Number(request.headers['content-length']) > maxBytes) throw tooLarge(maxBytes);
  let bytes = 0;
  for await (const chunk of readUpload(request, type, 'Content-Type: text/csv, in UTF-8')) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    yield chunk;
  }
}

function readUpload(request: Request, type: RegExp, needed: string): AsyncIterable<Buffer> {
  if (!type.test(request.headers['content-type'] ?? '') || request.headers['content-encoding'] !== undefined) {
    throw new AppError('unsupportedMediaType', `the body must be sent as ${needed}, without a content coding`);
  }
  grantContinue(request);
  const timeoutMs = bodyLimits(request).timeouts.uploadPause;
  return chunksOf(request, {
    timeoutMs,
    refusal: `the upload paused for more than ${timeoutMs / 1000} s`,
    ofAll: false,
  });
}
