import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest, Agent as TlsAgent } from 'node:https';
import { MAX_HEAD_BYTES } from '../contracts/common/answer-limits.js';
import { type KitAnswer, type KitRequest, NoAnswerError, type Send, UnprovenError } from './exchange.js';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';

/** Sends one request, and returns its answer once the head has arrived. */

type Agents = Readonly<Record<'http:' | 'https:', Agent>>;

const agentsOf = (options: { readonly keepAlive: boolean; readonly maxSockets?: number }): Agents => ({
  'http:': new Agent(options),
  'https:': new TlsAgent(options),
});

/** A response whose body is still arriving. */
interface Opened {
  readonly incoming: IncomingMessage;
  /** An error of the connection after the response, such as bytes after its announced end. */
  readonly lateError: () => Error | undefined;
}

/** Rejects with `NoAnswerError`, or when the signal is aborted. */
type Open = (url: URL, signal: AbortSignal) => Promise<Opened>;

async function openRequest(request: KitRequest, url: URL, agents: Agents, signal: AbortSignal): Promise<Opened> {
  const isTls = url.protocol === 'https:';
  const outgoing = (isTls ? httpsRequest : httpRequest)(url, {
    method: request.method,
    headers: headersOf(request),
    agent: agents[isTls ? 'https:' : 'http:'],
    signal,
    maxHeaderSize: MAX_HEAD_BYTES,
  });
  // An error after the response also reaches the reader of the body.
  let late: Error | undefined;
  outgoing.on('error', (error) => void (late = error));
  outgoing.end(request.body);
  try {
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    return { incoming, lateError: () => late };
  } catch (error) {
    throw signal.aborted ? error : new NoAnswerError(reasonOf(error as Error, url.host));
  }
}

const headersOf = ({ headers, body }: KitRequest) => ({
  Accept: 'application/json',
  'Accept-Encoding': 'identity',
  'User-Agent': 'haulbridge-conformance',
  ...(body === undefined
    ? {}
    : { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) }),
  ...headers,
});

function headOf(incoming: IncomingMessage): Omit<KitAnswer, 'body'> {
  const headers = Object.entries(incoming.headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : (value ?? ''),
  ]);
  return { status: incoming.statusCode ?? 0, headers: Object.fromEntries(headers) as Record<string, string> };
}

const mebibytes = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024)} MiB`;

function reasonOf(error: NodeJS.ErrnoException, host: string): string {
  const code = error.code ?? '';
  if (code === 'ECONNREFUSED') return `connection refused by ${host}`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `no address found for ${host}`;
  if (code === 'ECONNRESET' || code === 'EPIPE') return `${host} closed the connection without an answer`;
  if (code.startsWith('HPE_')) return `the answer is not valid HTTP (${code})`;
  if (/CERT|TLS|SSL|SIGNED/.test(code)) return `TLS with ${host} failed (${code})`;
  return `no answer from ${host} (${code === '' ? error.message : code})`;
}

/** Reads files behind download links, under the limits with which the platform downloads them. */

/** The platform takes larger files; the kit keeps one whole file in memory. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;
const MAX_FILE_MS = 600_000;
/** A camera may have to wake up: the platform waits twice as long for the first byte of a file as for a list. */
const FIRST_BYTE_FACTOR = 2;
const MAX_REDIRECTS = 3;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** Follows up to three redirects, as the platform does: no key is sent. A file that breaks off is an answer with a `cut`. */
async function fileOf(request: KitRequest, open: Open, timeoutMs: number): Promise<KitAnswer> {
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

/** Of an answer whose request has no `maxBytes`. Parsed JSON takes ten times its size in memory. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
/** A larger answer is counted, and not kept: nothing is proven about its contents. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

export interface Transport {
  readonly send: Send;
  close(): void;
}

/**
 * Sends requests over HTTP. It repeats nothing, follows no redirect but that of a file, and limits the size of each answer;
 * `timeoutMs` limits the time until an answer is complete. Each request has a connection of its own, so that a server that
 * leaves a connection unusable breaks the one rule about that (`isKept`), and not those of the requests that follow.
 * `fetch` would send a request again after 421, also a POST, and refuses ports such as 6000 and 10080.
 */
export function httpTransport(timeoutMs: number): Transport {
  const [fresh, kept] = [agentsOf({ keepAlive: false }), agentsOf({ keepAlive: true, maxSockets: 1 })];
  return {
    send: (request) => {
      const open: Open = (url, signal) => openRequest(request, url, request.isKept === true ? kept : fresh, signal);
      return request.isFile === true ? fileOf(request, open, timeoutMs) : answerTo(request, open, timeoutMs);
    },
    close: () => [fresh, kept].forEach((agents) => Object.values(agents).forEach((agent) => agent.destroy())),
  };
}

async function answerTo(request: KitRequest, open: Open, timeoutMs: number): Promise<KitAnswer> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const { incoming } = await open(new URL(request.url), signal);
    return await readAnswer(incoming, request.maxBytes);
  } catch (error) {
    if (signal.aborted) throw new NoAnswerError(`no complete answer within ${timeoutMs / 1000} s`);
    throw error;
  }
}

/** `maxBytes` is the limit of the platform: a larger answer is a fault of its own, and its body is empty. */
async function readAnswer(incoming: IncomingMessage, maxBytes: number | undefined): Promise<KitAnswer> {
  const answer = headOf(incoming);
  const limit = maxBytes ?? MAX_ANSWER_BYTES;
  const body = await bodyOf(incoming, limit);
  const plain = body === undefined ? undefined : decoded(body, answer.headers['content-encoding'], limit);
  if (plain !== undefined) return { ...answer, body: plain };
  return { ...answer, body: Buffer.alloc(0), exceeds: limit };
}

/** Undefined beyond the limit: the connection is closed then. */
async function bodyOf(incoming: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  let chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit) return undefined;
      if (size > MAX_KEPT_BYTES) chunks = [];
      else chunks.push(chunk);
    }
  } catch {
    throw new NoAnswerError('the connection closed before the answer was complete');
  }
  if (size > MAX_KEPT_BYTES) throw tooLargeForKit(size);
  return Buffer.concat(chunks);
}

const tooLargeForKit = (size: number): UnprovenError =>
  new UnprovenError(
    `the answer has ${mebibytes(size)}: the platform reads it, and the kit checks at most ${mebibytes(MAX_KEPT_BYTES)}`,
  );

const DECODERS = { gzip: gunzipSync, 'x-gzip': gunzipSync, deflate: inflateSync, br: brotliDecompressSync };

/** A server may compress although the kit asks it not to. Undefined beyond the limit. */
function decoded(body: Buffer, encoding: string | undefined, limit: number): Buffer | undefined {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity' || body.length === 0) return body;
  const decode = Object.hasOwn(DECODERS, name) ? DECODERS[name as keyof typeof DECODERS] : undefined;
  if (decode === undefined) throw new NoAnswerError(`unsupported Content-Encoding: ${name.slice(0, 40)}`);
  const maxOutputLength = Math.min(limit, MAX_KEPT_BYTES);
  try {
    return decode(body, { maxOutputLength });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE')
      throw new NoAnswerError(`the body cannot be decoded as ${name}`);
    if (maxOutputLength < limit) throw tooLargeForKit(maxOutputLength);
    return undefined;
  }
}
