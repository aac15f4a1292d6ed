import { setImmediate as nextTurn } from 'node:timers/promises';
import { type KitAnswer, type KitRequest, NoAnswerError, UnprovenError } from './exchange.js';
import { headOf, mebibytes, type Open, type Opened } from './open-request.js';

/** Reads files behind download links, under the limits with which the platform downloads them. */

/** The platform takes larger files; the kit keeps one whole file in memory. */
export const MAX_FILE_BYTES = 256 * 1024 * 1024;
const MAX_FILE_MS = 600_000;
/** A camera may have to wake up: the platform waits twice as long for the first byte of a file as for a list. */
const FIRST_BYTE_FACTOR = 2;
const MAX_REDIRECTS = 3;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** Follows up to three redirects, as the platform does: no key is sent. A file that breaks off is an answer with a `cut`. */
export async function fileOf(request: KitRequest, open: Open, timeoutMs: number): Promise<KitAnswer> {
  const watch = new Watch(timeoutMs);
  try {
    let url = new URL(request.url);
    for (let hops = 0; ; hops++) {
      const { incoming, lateError } = await open(url, watch.signal);
      const target = targetOf(incoming.statusCode, incoming.headers.location, url);
      if (target === undefined) return await fileFrom({ incoming, lateError }, request, watch);
      incoming.destroy();
      if (hops === MAX_REDIRECTS) throw new NoAnswerError(`the link needs more than ${MAX_REDIRECTS} redirects`);
      url = target;
    }
  } catch (error) {
    throw watch.failure() ?? error;
  } finally {
    watch.stop();
  }
}

function targetOf(status: number | undefined, location: string | undefined, base: URL): URL | undefined {
  if (!REDIRECTS.includes(status ?? 0) || location === undefined || !URL.canParse(location, base.href))
    return undefined;
  const target = new URL(location, base.href);
  return /^https?:$/.test(target.protocol) ? target : undefined;
}

async function fileFrom({ incoming, lateError }: Opened, request: KitRequest, watch: Watch): Promise<KitAnswer> {
  const { peekBytes = Infinity } = request;
  const chunks: Buffer[] = [];
  let size = 0;
  let cut: string | undefined;
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      watch.received();
      chunks.push(chunk);
      size += chunk.length;
      if (size >= peekBytes) break;
      if (size > MAX_FILE_BYTES) {
        throw new UnprovenError(
          `the file is larger than ${mebibytes(MAX_FILE_BYTES)}, which the kit does not read: pass --from and --to of a shorter recording`,
        );
      }
    }
  } catch (error) {
    if (error instanceof UnprovenError) throw error;
    cut = watch.failure()?.message ?? `the connection closed after ${size} bytes`;
  }
  // The parser reports bytes after the announced end once it has ended the answer.
  await nextTurn();
  if (cut === undefined && size < peekBytes && lateError() !== undefined)
    cut = `more bytes than announced follow the first ${size}`;
  return { ...headOf(incoming), body: Buffer.concat(chunks), ...(cut === undefined ? {} : { cut }) };
}

/** Limits the time until each part of a file, and that of the whole file. */
class Watch {
  private readonly abort = new AbortController();
  private readonly end: NodeJS.Timeout;
  private timer: NodeJS.Timeout;
  private reason: Error | undefined;

  constructor(private readonly timeoutMs: number) {
    this.timer = this.after(timeoutMs * FIRST_BYTE_FACTOR);
    const tooSlow = `the file did not end within ${MAX_FILE_MS / 60_000} minutes`;
    this.end = setTimeout(() => this.expire(new UnprovenError(tooSlow)), MAX_FILE_MS);
  }

  get signal(): AbortSignal {
    return this.abort.signal;
  }

  received(): void {
    clearTimeout(this.timer);
    this.timer = this.after(this.timeoutMs);
  }

  failure(): Error | undefined {
    return this.reason;
  }

  stop(): void {
    clearTimeout(this.timer);
    clearTimeout(this.end);
  }

  private after(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.expire(new NoAnswerError(`no byte of the file arrived within ${ms / 1_000} s`)), ms);
  }

  private expire(reason: Error): void {
    this.reason = reason;
    this.abort.abort();
  }
}
