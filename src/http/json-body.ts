import { createParamDecorator } from '@nestjs/common';
import express, { type Application, type Request, type Response } from 'express';
import { JsonFault } from '../contracts/common/json-fault.js';
import { parseJson, textOf } from '../contracts/common/json.js';
import { placed } from '../contracts/common/json-place.js';
import { AppError, invalid } from '../errors/app-error.js';
import { FaultyBody } from '../errors/validation.pipe.js';
import { type BodyReader, bodyReader, type ReadLimits, readLimits, setReadLimits } from './body-reader.js';
import { hasBody } from './unread-bodies.js';

/** A request whose body was read by `@JsonBody()`; `rawBody` is it, as it was sent but for any content coding. */
export interface BodyRequest extends Request {
  rawBody?: string;
}

export interface BodyOptions {
  /** A request without a body counts as `{}`. */
  readonly optional?: boolean;
}

/** Gives the application a reader of bodies of at most `limit` bytes (`HTTP_BODY_LIMIT`), and the time they may take. */
export function limitBodies(application: Application, limit: number, limits: ReadLimits): void {
  setReadLimits(application, limits, readerUpTo(limit));
}

function readerUpTo(maxBytes: number): BodyReader {
  return { maxBytes, read: express.raw({ type: () => true, limit: maxBytes }) };
}

/**
 * The JSON body of a route, held to its DTO by the validation pipe. It is read here and not by a middleware, so that
 * nothing of it is looked at before the guards have let the caller in (decision 3). The DTO's class must be imported as
 * a value: `import type` would silently disable the validation.
 */
export const JsonBody = createParamDecorator((options: BodyOptions | undefined, context): unknown => {
  const http = context.switchToHttp();
  const request = http.getRequest<BodyRequest>();
  if (options?.optional === true && !hasBody(request)) return {};
  const bytes = jsonBytes(request, http.getResponse<Response>(), bodyReader(request));
  return bytes instanceof Promise ? bytes.then((read) => jsonOf(request, read)) : jsonOf(request, bytes);
});

function jsonOf(request: BodyRequest, bytes: Buffer): unknown {
  try {
    const text = textOf(bytes);
    request.rawBody = text;
    const read = parseJson(text);
    return read.faults.length === 0 ? read.value : new FaultyBody(read);
  } catch (error) {
    if (error instanceof JsonFault) throw invalid([placed(error.violation, request.rawBody)]);
    throw error;
  }
}

/** The bytes of a JSON body of up to so many, for a route that reads it bit by bit; nothing of it has been looked at. */
export const JsonBytes = createParamDecorator((maxBytes: number, context): Buffer | Promise<Buffer> => {
  const http = context.switchToHttp();
  return jsonBytes(http.getRequest<BodyRequest>(), http.getResponse<Response>(), readerUpTo(maxBytes));
});

/** A promise only where the body is still on its way. */
function jsonBytes(request: BodyRequest, response: Response, reader: BodyReader): Buffer | Promise<Buffer> {
  requireJson(request.headers['content-type']);
  // Express would answer only once it had received, and thrown away, all of it.
  if (Number(request.headers['content-length']) > reader.maxBytes) throw tooLarge(reader.maxBytes);
  return bytesAtHand(reader, request) ?? readBytes(reader, request, response);
}

/** What `@JsonBody()` has read: in UTF-8, the bytes that were sent. */
export function rawBodyOf({ rawBody }: BodyRequest): string {
  if (rawBody === undefined) throw new Error('the route has to read its body with @JsonBody()');
  return rawBody;
}

function requireJson(contentType: string | undefined): void {
  // As nearly everyone writes it.
  if (contentType === 'application/json') return;
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='));
  if (type.trim() === 'application/json' && (charset === undefined || /^charset="?utf-?8"?$/.test(charset))) return;
  throw new AppError('unsupportedMediaType', 'the body must be sent as Content-Type: application/json, in UTF-8');
}

/** A body that is here as a whole, as it nearly always is, needs no reader and no deadline. */
function bytesAtHand({ maxBytes }: BodyReader, request: Request): Buffer | undefined {
  const plain = request.headers['content-encoding'] === undefined && request.readableLength <= maxBytes;
  if (!plain || !isHere(request)) return undefined;
  const pieces: Buffer[] = [];
  // One call gives one of the pieces in which the body came.
  for (let piece = next(request); piece !== null; piece = next(request)) pieces.push(piece);
  return pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
}

/** Node.js calls a request complete a moment after the last byte of its body. */
function isHere({ complete, readableLength, headers }: Request): boolean {
  return complete || readableLength === Number(headers['content-length']);
}

const next = (request: Request) => request.read() as Buffer | null;

function readBytes({ read }: BodyReader, request: Request, response: Response): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const { jsonBody } = readLimits(request);
    const late = () => reject(new AppError('requestTimeout', `the body must arrive within ${jsonBody / 1000} s`));
    const timer = setTimeout(late, jsonBody).unref();
    void read(request, response, (error?: unknown) => {
      clearTimeout(timer);
      if (error !== undefined && error !== null) reject(bodyError(error));
      else resolve(Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0));
    });
  });
}

function tooLarge(maxBytes: number): AppError {
  return new AppError('tooLarge', `the body must not be larger than ${maxBytes} bytes`);
}

/** The failures of Express's body reader, in our words. */
function bodyError(error: unknown): AppError {
  const type = typeof error === 'object' && error !== null && 'type' in error ? error.type : undefined;
  switch (type) {
    case 'entity.too.large':
      return tooLarge((error as { limit?: number }).limit ?? 0);
    case 'encoding.unsupported':
      return new AppError(
        'unsupportedMediaType',
        'the body must be sent without a content coding, or with gzip, deflate, br or zstd',
      );
    case 'request.aborted':
    case 'request.size.invalid':
      return unreadable('the body ended before its announced length');
    default:
      return unreadable('the body could not be read: check that it has the content coding that it is said to have');
  }
}

const unreadable = (message: string) => invalid([{ path: '', rule: 'isReadable', message }]);
