import { pipeline } from 'node:stream/promises';
import type { Readable } from 'node:stream';
import type { Application, Request, Response } from 'express';
import { ipKeyGenerator } from 'express-rate-limit';
import { AppError, unavailable } from '../errors/app-error.js';
import { type ByteRange, byteRange, matchesEtag } from './conditional-requests.js';
import { SERVER_LIMITS, type ServerLimits } from './http-server.js';

/** Stored bytes as an HTTP resource. */
export interface FileToSend {
  /** In bytes. */
  readonly size: number;
  /** A strong entity tag, with its quotes. */
  readonly etag: string;
  readonly contentType: string;
  /** Replace those of every response. */
  readonly headers?: Readonly<Record<string, string>>;
  /** If present, no more than so many bytes of the begin and of the end are sent. */
  readonly endsBytes?: number;
  open(range: ByteRange): Promise<Readable>;
  /** Runs before a caller gets the bytes, or hears that its copy is current: none of them is shown if it fails. */
  beforeShown?(): Promise<void>;
}

type FileLimits = Pick<ServerLimits, 'readerPause' | 'fileAnswers'>;

/** Key of a setting of the Express application. */
const LIMITS = 'haulbridge file limits';

/** Of this process, by the address of the caller: its memory is the limit. */
const fileAnswers = new Map<string, number>();
/** Of `fileAnswers` one address may have this part. */
const ADDRESS_PART = 1 / 4;

export function setFileLimits(application: Application, limits: FileLimits): void {
  application.set(LIMITS, limits);
}

/**
 * Answers `GET` with `Range`, `If-Range` and `If-None-Match`, and `HEAD` with `If-None-Match` (RFC 9110). A range that is
 * malformed or outside the file is 416 (decision 46); the response to several ranges is the whole file.
 */
export async function sendFile(request: Request, response: Response, file: FileToSend): Promise<void> {
  if (matchesEtag(request.headers['if-none-match'], file.etag)) {
    if (request.method !== 'HEAD') await file.beforeShown?.();
    response
      .status(304)
      .set({ ...headersOf(file), ...CACHING, ...file.headers })
      .end();
    return;
  }
  const range = rangeOf(request, file);
  const { start, end } = range ?? { start: 0, end: file.size - 1 };
  const isWithoutBytes = request.method === 'HEAD' || end < start;
  if (!isWithoutBytes) limitReader(request, response);
  const bytes = isWithoutBytes ? undefined : await openShown(file, { start, end });
  if (response.destroyed) {
    bytes?.destroy();
    return;
  }
  // Set only now: the error of a file that cannot be opened must not carry the headers of the file.
  response.status(range === undefined ? 200 : 206).set({
    ...headersOf(file),
    ...CACHING,
    ...file.headers,
    'Content-Type': file.contentType,
    'Content-Length': String(end - start + 1),
    ...(range === undefined ? {} : { 'Content-Range': `bytes ${start}-${end}/${file.size}` }),
  });
  if (bytes === undefined) response.end();
  else await send(bytes, response);
}

/** A file that cannot be opened is not shown. */
async function openShown(file: FileToSend, range: ByteRange): Promise<Readable> {
  const bytes = await file.open(range);
  try {
    await file.beforeShown?.();
    return bytes;
  } catch (error) {
    bytes.destroy();
    throw error;
  }
}

const headersOf = ({ etag }: FileToSend) => ({ ETag: etag, 'Accept-Ranges': 'bytes' });

const CACHING = { 'Cache-Control': 'private, no-transform' };

/** Counts the answer until it is closed. Throws `unavailable` if too many files are being sent. */
export function limitReader(request: Request, response: Response): void {
  const limits = (request.app.get(LIMITS) as FileLimits | undefined) ?? SERVER_LIMITS;
  const address = ipKeyGenerator(request.ip ?? '');
  const ofAddress = fileAnswers.get(address) ?? 0;
  const ofAll = [...fileAnswers.values()].reduce((sum, count) => sum + count, 0);
  if (ofAll >= limits.fileAnswers || ofAddress >= Math.ceil(limits.fileAnswers * ADDRESS_PART)) {
    throw unavailable('too many files are being sent; try again shortly', { retryAfterSeconds: 5 });
  }
  if (response.destroyed) return;
  fileAnswers.set(address, ofAddress + 1);
  response.once('close', () => {
    const left = (fileAnswers.get(address) ?? 1) - 1;
    if (left === 0) fileAnswers.delete(address);
    else fileAnswers.set(address, left);
  });
  response.setTimeout(limits.readerPause);
}

async function send(bytes: Readable, response: Response): Promise<void> {
  try {
    await pipeline(bytes, response);
  } catch (error) {
    // Closing the connection shows the client that the file is incomplete.
    if (!response.headersSent) throw error;
    response.destroy();
  }
}

function rangeOf(request: Request, file: FileToSend): ByteRange | undefined {
  const header = request.headers.range;
  const condition = request.headers['if-range'];
  // RFC 9110 defines ranges for GET only.
  if (request.method !== 'GET') return undefined;
  const isWhole = header === undefined || (condition !== undefined && condition !== file.etag);
  const range = withinEnds(isWhole ? 'whole' : byteRange(header, file.size), file);
  if (range === 'unsatisfiable') {
    const parts = file.endsBytes === undefined ? '' : `the first or last ${file.endsBytes} of `;
    const message = `the range must lie within ${parts}the ${file.size} bytes, such as bytes=0-99`;
    throw new AppError('rangeNotSatisfiable', message, {
      headers: { ...headersOf(file), 'Content-Range': `bytes */${file.size}` },
    });
  }
  return range === 'whole' ? undefined : range;
}

/** The part of a range that may be sent. The response names it (RFC 9110, section 14.4). */
function withinEnds(range: ReturnType<typeof byteRange>, { size, endsBytes }: FileToSend): typeof range {
  if (endsBytes === undefined || range === 'unsatisfiable' || size <= 2 * endsBytes) return range;
  const { start, end } = range === 'whole' ? { start: 0, end: size - 1 } : range;
  if (start >= size - endsBytes) return { start, end };
  return start < endsBytes ? { start, end: Math.min(end, endsBytes - 1) } : 'unsatisfiable';
}
