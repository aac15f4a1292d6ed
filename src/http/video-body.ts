import type { Readable } from 'node:stream';
import type { Request } from 'express';
import { AppError } from '../errors/app-error.js';

/** The body as a stream of bytes, where it is announced as `video/mp4`. */
export function requireVideo(request: Request): Readable {
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  if (type === 'video/mp4' && request.headers['content-encoding'] === undefined) return request;
  throw new AppError(
    'unsupportedMediaType',
    'the body must be sent as Content-Type: video/mp4, without a content coding',
  );
}
