import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';

/** Lines beyond this are dropped: standard output is not being read. */
const MAX_PENDING_BYTES = 8 * 1024 * 1024;

/** Many lines cost one system call. */
const CHUNK_BYTES = 4_096;
const FLUSH_MS = 1_000;

const DRAIN_TIMEOUT_MS = 500;

export interface LogOutput {
  write(line: string): void;
  /** Writes all pending lines. Ends after 500 ms, also if standard output is not read. */
  drain(): Promise<void>;
}

let shared: LogOutput | undefined;

/** The standard output of this process. While it is not read, memory is bounded: lines are dropped, counted and reported. */
export function standardOutput(): LogOutput {
  shared ??= openOutput();
  return shared;
}

function openOutput(): LogOutput {
  let isEnding = false;
  const stream = pino.destination({
    // With `process.stdout` Node makes a pipe non-blocking: a reader that stops then blocks neither a thread nor the exit.
    dest: process.stdout.fd,
    sync: false,
    minLength: CHUNK_BYTES,
    maxLength: MAX_PENDING_BYTES,
    periodicFlush: FLUSH_MS,
    retryEAGAIN: () => !isEnding,
  });
  reportDrops(stream);
  // A full disk: the lines stay pending.
  stream.on('error', () => undefined);
  process.prependOnceListener('exit', () => {
    isEnding = true;
    try {
      stream.flushSync();
    } catch {
      // Standard output is closed or full: its reader has ended or stopped.
    }
    // Else pino would write once more, until somebody reads.
    stream.destroy();
  });
  return {
    write: (line) => void stream.write(line),
    drain: () => Promise.race([new Promise<void>((resolve) => stream.flush(() => resolve())), delay(DRAIN_TIMEOUT_MS)]),
  };
}

/** Logs how many lines were lost when standard output is read again. */
function reportDrops(stream: ReturnType<typeof pino.destination>): void {
  let dropped = 0;
  stream.on('drop', () => (dropped += 1));
  stream.on('drain', () => {
    if (dropped === 0) return;
    const msg = 'standard output was not read: lines lost';
    const line = { level: 40, time: new Date().toISOString(), dropped, msg };
    dropped = 0;
    stream.write(`${JSON.stringify(line)}\n`);
  });
}
