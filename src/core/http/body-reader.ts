import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, invalid, unavailable } from '../errors/app-error.js';
import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib';
import type { Application, Request, RequestHandler } from 'express';
import type { Call } from './call.js';
import { hasBody, type ServerLimits } from './http-server.js';
import { mediaTypeOf } from './headers.js';

/** A smaller body is processed at once: it holds the event loop for less than a turn costs. */
const MAX_UNQUEUED_BYTES = 4 * 1024;

/**
 * Gives each larger body a turn of the event loop of its own, in the order of arrival: decoding, parsing and validating 1 MiB takes
 * some 10 ms, and other requests are served between two bodies.
 */
class BodyTurns {
  private last: Promise<void> = Promise.resolve();

  /** Resolves when the body may be processed. */
  wait(): Promise<void> {
    this.last = this.last.then(() => nextTurn());
    return this.last;
  }
}

/** Bytes of all bodies whose requests have no answer yet, and of those of one hauler. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_BYTES_PER_CALLER = MAX_BYTES / 4;

type Release = () => void;

/**
 * Bounds the memory of large bodies, so that one caller with many or slow ones does not stop the others. A caller may
 * have at most as much as is free: so several loud callers leave a share to the next one.
 */
class ReceivingBudget {
  private readonly bytesByCaller = new Map<string, number>();
  /** Of all callers. */
  total = 0;

  /** Returns the function that releases the bytes. Throws `unavailable` if there is no room. */
  acquire(caller: string, size: number): Release {
    // A larger body is possible on admin routes only: one at a time.
    const bytes = Math.min(size, MAX_BYTES_PER_CALLER);
    const ofCaller = (this.bytesByCaller.get(caller) ?? 0) + bytes;
    if (ofCaller > Math.min(MAX_BYTES_PER_CALLER, MAX_BYTES - this.total)) {
      throw unavailable('too many unfinished requests with large bodies; try again shortly', { overload: 'bodies' });
    }
    this.add(caller, bytes);
    return () => this.add(caller, -bytes);
  }

  private add(caller: string, bytes: number): void {
    this.total += bytes;
    const ofCaller = (this.bytesByCaller.get(caller) ?? 0) + bytes;
    if (ofCaller === 0) this.bytesByCaller.delete(caller);
    else this.bytesByCaller.set(caller, ofCaller);
  }
}

/** Limits of request bodies. */
interface BodyLimits {
  /** `HTTP_BODY_LIMIT`. */
  readonly maxBytes: number;
  readonly timeouts: Pick<ServerLimits, 'jsonBody' | 'uploadPause' | 'unreadBody'>;
}

/** Keys of the settings of the Express application. */
const LIMITS = 'haulbridge body limits';
const BUDGETS = 'haulbridge body budgets';
const TURNS = 'haulbridge body turns';

/** Size of a body whose sender is unknown. The number of connections bounds such bodies: they use no budget. */
const MAX_BYTES_WITHOUT_KEY = 4 * 1024;

/** Callers with keys never use up the budget of the administrators. */
interface Budgets {
  readonly keys: ReceivingBudget;
  readonly admins: ReceivingBudget;
}

/** The hauler of a request, or the key that belongs to none. The admin API has no key. */
const callerOf = ({ principal }: Call): string => principal?.haulerId ?? principal?.keyPrefix ?? 'admin';

export function setBodyLimits(application: Application, limits: BodyLimits): void {
  const budgets: Budgets = { keys: new ReceivingBudget(), admins: new ReceivingBudget() };
  application.set(LIMITS, limits).set(BUDGETS, budgets).set(TURNS, new BodyTurns());
}

export function receivingBytes(application: Application): number {
  const { keys, admins } = application.get(BUDGETS) as Budgets;
  return keys.total + admins.total;
}

export const bodyLimits = (request: Request): BodyLimits => request.app.get(LIMITS) as BodyLimits;

/** Closes the connection of a caller that sends an unread body too slowly after the response. */
export const discardUnreadBody: RequestHandler = (request, response, next) => {
  if (hasBody(request)) {
    response.on('finish', () => {
      if (request.complete) return;
      setTimeout(() => {
        if (!request.complete) request.socket.destroy();
      }, bodyLimits(request).timeouts.unreadBody).unref();
    });
  }
  next();
};

/**
 * Reads and decompresses a body of at most `maxBytes`, and waits until it may be processed. Returns a promise only if the
 * body has not arrived yet, or is not small. Throws `unavailable` if too many bodies are being received.
 */
export function readBytes(request: Request, maxBytes: number): Buffer | Promise<Buffer> {
  const received = receivedBytes(request, maxBytes);
  if (received !== undefined && received.length <= MAX_UNQUEUED_BYTES) return received;
  return readInTurn(request, maxBytes, received);
}

/** `readBytes` for a route without a guard: the body is small and arrives soon, and its connection may be closed before. */
export function readBytesWithoutKey(request: Request): Buffer | Promise<Buffer> {
  const maxBytes = Math.min(MAX_BYTES_WITHOUT_KEY, bodyLimits(request).maxBytes);
  const received = receivedBytes(request, maxBytes);
  if (received !== undefined) return received;
  const { call } = request;
  call.mayBeClosed = true;
  return awaitedBytes(request, maxBytes, bodyLimits(request).timeouts.unreadBody).finally(
    () => (call.mayBeClosed = false),
  );
}

async function readInTurn(request: Request, maxBytes: number, received: Buffer | undefined): Promise<Buffer> {
  const { keys, admins } = request.app.get(BUDGETS) as Budgets;
  const budget = request.call.principal === undefined ? admins : keys;
  const release = budget.acquire(callerOf(request.call), received?.length ?? maxSize(request, maxBytes));
  // An administrator may send a file of any size, and others need not wait until it is processed.
  if (budget === keys) whenClosed(request, release);
  try {
    const bytes = received ?? (await awaitedBytes(request, maxBytes, bodyLimits(request).timeouts.jsonBody));
    if (bytes.length > MAX_UNQUEUED_BYTES) await (request.app.get(TURNS) as BodyTurns).wait();
    return bytes;
  } finally {
    if (budget === admins) release();
  }
}

/** The caller may have left before its body is read. */
function whenClosed({ res }: Request, release: Release): void {
  if (res === undefined || res.closed) release();
  else res.once('close', release);
}

/** Maximum memory of a body. A small compressed body may decompress to `maxBytes`. */
function maxSize({ headers }: Request, maxBytes: number): number {
  return headers['content-encoding'] === undefined ? Number(headers['content-length'] ?? maxBytes) : maxBytes;
}

/** Sends `100 Continue`, after the guards have accepted the caller and the declared size is allowed. */
export function grantContinue({ headers, res }: Request): void {
  if (headers.expect?.toLowerCase() === '100-continue') res?.writeContinue();
}

/**
 * The body if it has arrived without a content coding, as nearly all do: it needs no stream reader and no timeout. Throws if its
 * announced length is too large.
 */
function receivedBytes(request: Request, maxBytes: number): Buffer | undefined {
  const { complete, readableLength, headers } = request;
  if (Number(headers['content-length']) > maxBytes) throw tooLarge(maxBytes);
  if (headers['content-encoding'] !== undefined || readableLength > maxBytes) return undefined;
  // Node sets `complete` a moment after the last byte of the body has arrived.
  if (!complete && readableLength !== Number(headers['content-length'])) return undefined;
  const chunks: Buffer[] = [];
  // Each call returns one of the chunks in which the body arrived.
  for (let chunk = readChunk(request); chunk !== null; chunk = readChunk(request)) chunks.push(chunk);
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
}

const readChunk = (request: Request) => request.read() as Buffer | null;

/**
 * Refuses a body that is too large without reading the rest, and reads it without its coding. The sender's time is that of all its
 * parts together.
 */
async function awaitedBytes(request: Request, maxBytes: number, timeoutMs: number): Promise<Buffer> {
  const coding = (request.headers['content-encoding'] ?? 'identity').toLowerCase();
  const decode = DECODERS.get(coding);
  if (decode === undefined && coding !== 'identity') throw new AppError('unsupportedMediaType', CODINGS);
  grantContinue(request);
  const refusal = `the body must arrive within ${timeoutMs / 1000} s`;
  const parts: Buffer[] = [];
  let sizeBytes = 0;
  try {
    for await (const part of chunksOf(request, { timeoutMs, refusal, ofAll: true })) {
      sizeBytes += part.length;
      if (sizeBytes > maxBytes) throw tooLarge(maxBytes);
      parts.push(part);
    }
    const bytes = Buffer.concat(parts);
    if (decode === undefined) return bytes;
    request.call.wire = { sizeBytes, sha256: hash('sha256', bytes) };
    return await decode(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    throw error instanceof AppError ? error : unreadable(error, maxBytes);
  }
}

export function tooLarge(maxBytes: number): AppError {
  return new AppError('tooLarge', `the body must not be larger than ${maxBytes} bytes`);
}

/** Node.js ends the parts of a body with `ECONNRESET` where its sender has gone. */
function unreadable(error: unknown, maxBytes: number): AppError {
  const { code } = error as { readonly code?: unknown };
  if (code === 'ERR_BUFFER_TOO_LARGE') return tooLarge(maxBytes);
  const message =
    code === 'ECONNRESET'
      ? 'the body ended before its announced length'
      : 'the body could not be decoded: check that it has the announced Content-Encoding';
  return invalid([{ path: '', rule: 'isReadable', message }]);
}

const CODINGS = 'the body must be sent without a content coding, or with gzip, deflate, br or zstd';

type Decode = (bytes: Buffer, options: { readonly maxOutputLength: number }) => Promise<Buffer>;

const DECODERS = new Map<string, Decode>([
  ['gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
  ['zstd', promisify(zstdDecompress)],
]);

interface Waiting {
  readonly timeoutMs: number;
  readonly refusal: string;
  /** The timeout is for all waits together, not for each. */
  readonly ofAll: boolean;
}

/** The time that the reader takes between two chunks does not count. */
export async function* chunksOf(request: Request, { timeoutMs, refusal, ofAll }: Waiting): AsyncGenerator<Buffer> {
  // Destroying the request would close the connection before the response.
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
  let leftMs = timeoutMs;
  for (;;) {
    const begun = performance.now();
    const chunk = await within(chunks.next(), leftMs, refusal);
    if (ofAll) leftMs = Math.max(0, leftMs - (performance.now() - begun));
    if (chunk.done === true) return;
    yield chunk.value;
  }
}

function within<T>(work: Promise<T>, timeoutMs: number, refusal: string): Promise<T> {
  return new Promise((resolve, reject) => {
    // First reads the bytes that arrived while the event loop was busy.
    const refuse = () => setImmediate(() => reject(new AppError('requestTimeout', refusal)));
    const timer = setTimeout(refuse, timeoutMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** The chunks of a `video/mp4` body. A sender that pauses too long is a `requestTimeout`. */
export function readVideo(request: Request): AsyncIterable<Buffer> {
  requireType(request, 'video/mp4', 'Content-Type: video/mp4');
  return chunks(request);
}

/** The chunks of a `text/csv` body of at most `maxBytes`. What the headers show is refused before any is read. */
export function readCsv(request: Request, maxBytes: number): AsyncIterable<Buffer> {
  requireType(request, 'text/csv', 'Content-Type: text/csv, in UTF-8', /^utf-?8$/);
  if (Number(request.headers['content-length']) > maxBytes) throw tooLarge(maxBytes);
  return atMost(maxBytes, request);
}

async function* atMost(maxBytes: number, request: Request): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks(request)) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    yield chunk;
  }
}

function requireType({ headers }: Request, needed: string, sentence: string, charsets?: RegExp): void {
  const { type, charset = 'utf-8' } = mediaTypeOf(headers['content-type']);
  const isReadable = headers['content-encoding'] === undefined && (charsets === undefined || charsets.test(charset));
  if (type === needed && isReadable) return;
  throw new AppError('unsupportedMediaType', `the body must be sent as ${sentence}, without a content coding`);
}

function chunks(request: Request): AsyncIterable<Buffer> {
  grantContinue(request);
  const timeoutMs = bodyLimits(request).timeouts.uploadPause;
  return chunksOf(request, {
    timeoutMs,
    refusal: `the upload paused for more than ${timeoutMs / 1000} s`,
    ofAll: false,
  });
}
