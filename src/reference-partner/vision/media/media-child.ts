import { buffer } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import { openStorage } from '../../../core/storage/open-storage.js';
import { isStorageError, sentenceOf } from '../../../core/storage/storage-errors.js';
import { type VideoPart, NotCopiedError, trimMp4 } from './trim-mp4.js';

export interface TrimTask {
  readonly storageUrl: string;
  /** The recording in the storage. */
  readonly name: string;
  readonly sizeBytes: number;
  readonly part: VideoPart;
}

export type TrimReply =
  | { readonly type: 'trimmed'; readonly part: VideoPart }
  /** The recording has nothing of the part. */
  | { readonly type: 'nothing' }
  | { readonly type: 'untrimmed'; readonly reason: 'not-copied' | 'unreadable' }
  | { readonly type: 'storage'; readonly message: string };

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

/** Writes the trimmed recording to the standard output. */
async function perform({ storageUrl, name, sizeBytes, part }: TrimTask): Promise<TrimReply> {
  const storage = await openStorage(storageUrl);
  let failure: unknown;
  const read = async (start: number, end: number) => {
    try {
      return await buffer(await storage.read(name, { start, end: end - 1 }));
    } catch (error) {
      if (isStorageError(error)) failure = error;
      throw error;
    }
  };
  const target = new WritableStream<{ data: Uint8Array }>({
    write: ({ data }) =>
      new Promise((resolve, reject) => process.stdout.write(data, (error) => (error ? reject(error) : resolve()))),
  });
  try {
    const trimmed = await trimMp4({ getSize: () => sizeBytes, read }, part, target);
    return trimmed === undefined ? { type: 'nothing' } : { type: 'trimmed', part: trimmed };
  } catch (error) {
    if (failure !== undefined) return { type: 'storage', message: sentenceOf(failure) };
    return { type: 'untrimmed', reason: error instanceof NotCopiedError ? 'not-copied' : 'unreadable' };
  } finally {
    storage.close();
  }
}

const maxRssBytes = Number(process.argv[2]);
new Worker(WATCHDOG, { eval: true, execArgv: [], workerData: { maxRssBytes, parent: process.ppid } });
// The parent disconnects when it has the reply, or when it ends.
process.once('disconnect', () => process.exit());
process.once('message', (task: TrimTask) => {
  perform(task)
    .then((reply) => {
      // The task may have ended before the next check of the watchdog.
      if (process.memoryUsage.rss() > maxRssBytes) process.kill(process.pid, 'SIGTERM');
      else process.send?.(reply);
    })
    // The parent reports the end of this process.
    .catch(() => process.exit(1));
});
