import type { Request } from 'express';
import { AppError } from '../errors/app-error.js';
import { readLimits } from './body-reader.js';

/** The body, chunk by chunk, where it is announced as `video/mp4`. A sender that pauses too long is `requestTimeout`. */
export function requireVideo(request: Request): AsyncIterable<Buffer> {
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  if (type === 'video/mp4' && request.headers['content-encoding'] === undefined)
    return steadily(request, readLimits(request).uploadPause);
  throw new AppError(
    'unsupportedMediaType',
    'the body must be sent as Content-Type: video/mp4, without a content coding',
  );
}

async function* steadily(request: Request, pauseMs: number): AsyncGenerator<Buffer> {
  // What is read no further is left to the answer: destroying it here would leave no connection to answer on.
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
  let late: () => void = () => undefined;
  // What came while the service itself was held up is read before its sender is blamed.
  const timer = setTimeout(() => setImmediate(late), pauseMs);
  try {
    for (;;) {
      const chunk = await new Promise<IteratorResult<Buffer>>((resolve, reject) => {
        late = () => reject(new AppError('requestTimeout', `the upload paused for more than ${pauseMs / 1000} s`));
        timer.refresh();
        chunks.next().then(resolve, reject);
      });
      if (chunk.done === true) return;
      yield chunk.value;
    }
  } finally {
    clearTimeout(timer);
  }
}
