import { Worker } from 'node:worker_threads';
import { openStorage } from '../../../storage/open-storage.js';
import {
  errorCode,
  isErrorLike,
  NotStoredError,
  sentenceOf,
  StorageUnavailableError,
} from '../../../storage/storage-errors.js';
import type { StorageTrouble } from '../../../storage/storage-errors.js';
import { type Clip, cutClip } from './cut-clip.js';
import { MediaError, type MediaFault } from './stored-mp4.js';

/** A recording in the storage. */
export interface StoredChunk {
  readonly name: string;
  readonly sizeBytes: number;
  readonly startTime: Date;
  readonly endTime: Date;
}

export interface CutTask {
  readonly storageUrl: string;
  readonly chunks: readonly StoredChunk[];
  readonly range: { readonly startTime: Date; readonly endTime: Date };
  readonly target: string;
}

export type MediaReply =
  | { readonly type: 'done'; readonly clip: Clip }
  | { readonly type: 'media'; readonly fault: MediaFault; readonly message: string }
  | { readonly type: 'storage'; readonly trouble: StorageTrouble; readonly message: string }
  | { readonly type: 'not-stored'; readonly file: string }
  | { readonly type: 'system'; readonly code: string; readonly path?: string; readonly message: string }
  | { readonly type: 'unexpected'; readonly message: string };

/**
 * Ends this process if its memory exceeds the limit or its parent has ended. It runs in its own thread, because a damaged
 * video can block the event loop.
 */
const WATCHDOG = `
  const { workerData } = require('node:worker_threads');
  setInterval(() => {
    const isTooLarge = process.memoryUsage.rss() > workerData.maxRssBytes;
    if (isTooLarge || process.ppid !== workerData.parent) process.kill(process.pid, 'SIGTERM');
  }, 100);`;

async function perform(task: CutTask): Promise<MediaReply> {
  try {
    return { type: 'done', clip: await cut(task) };
  } catch (error) {
    return replyOf(error);
  }
}

async function cut({ storageUrl, chunks, range, target }: CutTask): Promise<Clip> {
  const storage = await openStorage(storageUrl);
  try {
    return await cutClip({
      chunks: chunks.map(({ name, sizeBytes, startTime, endTime }) => ({
        startTime,
        endTime,
        source: { size: sizeBytes, read: (start, end) => storage.read(name, { start, end: end - 1 }) },
      })),
      range,
      target,
    });
  } finally {
    storage.close();
  }
}

function replyOf(error: unknown): MediaReply {
  const message = sentenceOf(error);
  if (error instanceof MediaError) return { type: 'media', fault: error.fault, message };
  if (error instanceof StorageUnavailableError) return { type: 'storage', trouble: error.trouble, message };
  if (error instanceof NotStoredError) return { type: 'not-stored', file: error.file };
  const code = errorCode(error);
  if (code === undefined || !isErrorLike(error)) return { type: 'unexpected', message };
  return { type: 'system', code, message, ...('path' in error && { path: String(error.path) }) };
}

const maxRssBytes = Number(process.argv[2]);
new Worker(WATCHDOG, { eval: true, execArgv: [], workerData: { maxRssBytes, parent: process.ppid } });
// The parent disconnects when it has the reply, or when it ends.
process.once('disconnect', () => process.exit());
process.once('message', (task: CutTask) => {
  perform(task)
    .then((reply) => {
      // The task may have ended before the next check of the watchdog.
      if (process.memoryUsage.rss() > maxRssBytes) process.kill(process.pid, 'SIGTERM');
      else process.send?.(reply);
    })
    // The parent reports the end of this process.
    .catch(() => process.exit(1));
});
