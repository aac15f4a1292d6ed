import { fstatSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { inBackground } from '../errors/background.js';

const STDOUT = 1;

/** Lines beyond this are dropped: standard output is not being read. */
const MAX_PENDING_BYTES = 8 * 1024 * 1024;

const FLUSH_MS = 1000;
const DRAIN_TIMEOUT_MS = 500;

type Sink = Pick<Writable, 'write'>;

/**
 * Writes log lines in chunks, so that many lines cost one system call. Memory is bounded: while standard output is not
 * read, lines are dropped and counted.
 */
export class LogOutput {
  droppedLines = 0;
  private lines: string[] = [];
  private pendingBytes = 0;
  private writing: Promise<void> | undefined;
  private reportedLines = 0;

  constructor(
    private readonly sink: Sink,
    /** A longer line is a chunk of its own. */
    private readonly chunkBytes: number,
  ) {}

  write(line: string): void {
    const bytes = Buffer.byteLength(line);
    if (this.pendingBytes + bytes > MAX_PENDING_BYTES) {
      this.droppedLines += 1;
      return;
    }
    if (this.pendingBytes + bytes > this.chunkBytes) inBackground(this.flush());
    this.lines.push(line);
    this.pendingBytes += bytes;
  }

  /** Resolves when all pending lines are written. */
  flush(): Promise<void> {
    if (this.lines.length === 0) return this.writing ?? Promise.resolve();
    this.writing ??= this.writeAll().finally(() => (this.writing = undefined));
    return this.writing;
  }

  /** `flush` with a timeout, for a process that must end even if standard output is not read. */
  async drain(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, DRAIN_TIMEOUT_MS)));
    await Promise.race([this.flush(), timeout]);
    clearTimeout(timer);
  }

  /** At the end of the process and after a fatal line; pino calls it. Never blocks: a pipe is in non-blocking mode. */
  flushSync(): void {
    try {
      while (this.lines.length > 0) writeSync(STDOUT, this.takeChunk());
    } catch {
      // Standard output is closed or full: its reader has ended or stopped.
    }
  }

  private async writeAll(): Promise<void> {
    while (this.lines.length > 0) {
      const chunk = this.takeChunk();
      await new Promise<void>((resolve) => this.sink.write(chunk, () => resolve()));
    }
  }

  private takeChunk(): string {
    this.reportDroppedLines();
    let count = 0;
    let bytes = 0;
    for (const line of this.lines) {
      const lineBytes = Buffer.byteLength(line);
      if (count > 0 && bytes + lineBytes > this.chunkBytes) break;
      count += 1;
      bytes += lineBytes;
    }
    this.pendingBytes -= bytes;
    return this.lines.splice(0, count).join('');
  }

  private reportDroppedLines(): void {
    const dropped = this.droppedLines - this.reportedLines;
    if (dropped === 0) return;
    this.reportedLines = this.droppedLines;
    const line = {
      level: 40,
      time: new Date().toISOString(),
      dropped,
      msg: 'standard output was not read: lines lost',
    };
    this.lines.push(`${JSON.stringify(line)}\n`);
  }
}

let shared: LogOutput | undefined;

/**
 * The standard output of this process. `process.stdout` writes to a pipe synchronously, so the service would stop if its
 * reader stops; a socket on the same descriptor does not block.
 */
export function standardOutput(chunkBytes: number): LogOutput {
  if (shared === undefined) {
    const output = new LogOutput(openSink(), chunkBytes);
    shared = output;
    setInterval(() => inBackground(output.flush()), FLUSH_MS).unref();
    process.once('exit', () => output.flushSync());
  }
  return shared;
}

function openSink(): Sink {
  const stat = fstatSync(STDOUT);
  if (!stat.isFIFO() && !stat.isSocket()) return process.stdout;
  const socket = new Socket({ fd: STDOUT, readable: false, writable: true });
  socket.unref();
  // The reader has closed its end. Later writes fail at once, and their lines are lost.
  socket.on('error', () => undefined);
  return socket;
}
