import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { childEnv, childEnvWithS3 } from '../../../core/config/child-env.js';
import { PACKAGE_FOLDER } from '../../../core/config/version.js';
import { StorageUnavailableError } from '../../../core/storage/storage-errors.js';
import type { VideoPart } from './trim-mp4.js';
import type { TrimReply, TrimTask } from './media-child.js';

/** Why a recording cannot be trimmed. A retry does not help. */
export type Untrimmed = Extract<TrimReply, { type: 'untrimmed' }>['reason'] | 'too-long' | 'too-large' | 'nothing';

export class UntrimmedError extends Error {
  constructor(readonly reason: Untrimmed) {
    super(reason);
  }
}

const MIB = 1024 ** 2;
/** For one process: the library keeps the packets between two key frames in memory. */
const MAX_RSS_BYTES = 256 * MIB;
/** Larger than the limit above: the watchdog ends the process before V8 spends seconds on garbage collection. */
const MAX_HEAP_MIB = 512;
const BASE_TIMEOUT_MS = 30_000;
/** Slow disks and S3 servers deliver more than this. */
const MIN_BYTES_PER_MS = 2 * 1024;

const CHILD = join(PACKAGE_FOLDER, 'dist/src/reference-partner/vision/media/media-child.js');

/**
 * Trims a recording in a child process, which a damaged one can crash, block or fill without harm to the service, and hands its bytes
 * to `store`, in the order of the file. They end only if the recording is whole. Rejects with `UntrimmedError`, or the errors of the
 * storage.
 */
export async function trimInProcess<T>(
  task: TrimTask,
  signal: AbortSignal,
  store: (bytes: AsyncIterable<Buffer>) => Promise<T>,
): Promise<{ part: VideoPart; stored: T }> {
  signal.throwIfAborted();
  const child = fork(CHILD, [String(MAX_RSS_BYTES)], {
    // None is inherited: options such as `--env-file` and `--require` may load secrets into the environment of the child.
    execArgv: ['--max-semi-space-size=8', `--max-old-space-size=${MAX_HEAP_MIB}`],
    // It reads what strangers have made, so it gets no secret but the key of the bucket, where there is one.
    env: task.storageUrl.startsWith('file:') ? childEnv() : childEnvWithS3(),
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
  });
  const kill = () => child.kill('SIGKILL');
  const timer = setTimeout(kill, BASE_TIMEOUT_MS + Math.ceil(task.sizeBytes / MIN_BYTES_PER_MS));
  signal.addEventListener('abort', kill);
  const exited = once(child, 'exit') as Promise<[code: number | null, signal: NodeJS.Signals | null]>;
  const replied = (once(child, 'message') as Promise<[TrimReply]>).then(([reply]) => reply);
  const outcome = (async () => {
    child.send(task, () => undefined);
    const reply = await Promise.race([replied, exited.then(() => undefined)]);
    if (child.connected) child.disconnect();
    const [, killedBy] = await exited;
    signal.throwIfAborted();
    return partOf(reply, killedBy);
  })();
  // It is awaited below: until then a failure must not count as unhandled.
  outcome.catch(() => undefined);
  async function* bytes(): AsyncGenerator<Buffer> {
    yield* child.stdout as AsyncIterable<Buffer>;
    await outcome;
  }
  try {
    const stored = await store(bytes());
    return { part: await outcome, stored };
  } finally {
    kill();
    clearTimeout(timer);
    signal.removeEventListener('abort', kill);
  }
}

function partOf(reply: TrimReply | undefined, killedBy: NodeJS.Signals | null): VideoPart {
  switch (reply?.type) {
    case 'trimmed':
      return reply.part;
    case 'storage':
      throw new StorageUnavailableError('failed', reply.message);
    case 'nothing':
      throw new UntrimmedError('nothing');
    case 'untrimmed':
      throw new UntrimmedError(reply.reason);
    case undefined:
      if (killedBy === 'SIGKILL') throw new UntrimmedError('too-long');
      // The watchdog of the child sends SIGTERM; V8 aborts where its heap is full.
      throw new UntrimmedError(killedBy === 'SIGTERM' || killedBy === 'SIGABRT' ? 'too-large' : 'unreadable');
  }
}
