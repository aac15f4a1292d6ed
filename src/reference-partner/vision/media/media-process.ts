import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { childEnv, childEnvWithS3 } from '../../../config/child-env.js';
import { PACKAGE_FOLDER } from '../../../config/version.js';
import { fullDisk, NotStoredError, StorageUnavailableError } from '../../../storage/storage-errors.js';
import type { Clip } from './cut-clip.js';
import type { CutTask, MediaReply } from './media-child.js';
import { MediaError } from './stored-mp4.js';
import { systemNow } from '../../sandbox/partner-clock.js';

/** The child process crashed, exceeded a limit, or reported an unexpected error. A retry may succeed. */
export class MediaProcessError extends Error {
  override readonly name = 'MediaProcessError';
  readonly expected = true;
}

export interface MediaLimits {
  readonly timeoutMs: number;
  readonly maxRssBytes: number;
}

const MIB = 1024 ** 2;
/** For one process; a clip of one hour needs about 130 MiB, Node.js included. */
const MAX_RSS_BYTES = 256 * MIB;
/** Larger than the limit above: the watchdog ends the process before V8 spends seconds on garbage collection. */
const MAX_HEAP_MIB = 512;
const BASE_TIMEOUT_MS = 30_000;
/** Slow disks and S3 servers deliver more than this. */
const MIN_BYTES_PER_MS = 2 * 1024;

const CHILD = join(PACKAGE_FOLDER, 'dist/src/reference-partner/vision/media/media-child.js');

export const limitsFor = (totalBytes: number): MediaLimits => ({
  maxRssBytes: MAX_RSS_BYTES,
  timeoutMs: BASE_TIMEOUT_MS + Math.ceil(totalBytes / MIN_BYTES_PER_MS),
});

/**
 * Runs `cutClip` in a child process: a damaged video can crash it, block it or fill its memory without harm to the
 * service. Rejects with `MediaError`, `MediaProcessError`, or the errors of the storage.
 */
export async function cutClipInProcess(
  order: CutTask & { readonly signal: AbortSignal },
  limits = limitsFor(order.chunks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)),
): Promise<Clip> {
  const { signal, ...task } = order;
  signal.throwIfAborted();
  const startedAt = systemNow();
  const child = fork(CHILD, [String(limits.maxRssBytes)], {
    // None is inherited: options such as `--env-file` and `--require` may load secrets into the environment of the child.
    execArgv: ['--max-semi-space-size=8', `--max-old-space-size=${MAX_HEAP_MIB}`],
    // It reads what strangers have made, so it gets no secret but the key of the bucket, where there is one.
    env: task.storageUrl.startsWith('file:') ? childEnv() : childEnvWithS3(),
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const exited = once(child, 'exit') as Promise<[code: number | null, signal: NodeJS.Signals | null]>;
  const abort = () => child.kill('SIGKILL');
  const timer = setTimeout(abort, limits.timeoutMs);
  signal.addEventListener('abort', abort);
  try {
    const replied = once(child, 'message') as Promise<[MediaReply]>;
    child.send(task, () => undefined);
    const reply = await Promise.race([replied.then(([message]) => message), exited.then(() => undefined)]);
    if (child.connected) child.disconnect();
    const [code, killedBy] = await exited;
    signal.throwIfAborted();
    if (reply !== undefined) return resultOf(reply);
    throw new MediaProcessError(reasonOfExit(code, killedBy, systemNow() - startedAt, limits));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

function reasonOfExit(code: number | null, killedBy: NodeJS.Signals | null, ms: number, limits: MediaLimits): string {
  if (killedBy === 'SIGKILL' && ms >= limits.timeoutMs) {
    return `reading the recordings took longer than ${Math.round(limits.timeoutMs / 1000)} s`;
  }
  // The watchdog of the child sends SIGTERM; V8 aborts where its heap is full.
  if (killedBy === 'SIGTERM' || killedBy === 'SIGABRT') return 'reading the recordings took too much memory';
  return `the process that reads the recordings ended with ${killedBy ?? `exit code ${code}`}`;
}

function resultOf(reply: MediaReply): Clip {
  switch (reply.type) {
    case 'done':
      return reply.clip;
    case 'media':
      throw new MediaError(reply.fault, reply.message);
    case 'storage':
      throw new StorageUnavailableError(reply.trouble, reply.message);
    case 'not-stored':
      throw new NotStoredError(reply.file);
    case 'system':
      if (reply.code === 'ENOSPC' || reply.code === 'EDQUOT') throw fullDisk(reply.code);
      throw Object.assign(new Error(reply.message), { code: reply.code, ...(reply.path && { path: reply.path }) });
    case 'unexpected':
      throw new MediaProcessError(`reading the recordings failed: ${reply.message}`);
  }
}
