import { createParamDecorator } from '@nestjs/common';
import type { Request, Response } from 'express';
import { decodeUtf8, InvalidJsonError, parseJson } from '../contracts/common/json.js';
import { AppError, invalid } from '../errors/app-error.js';
import { bodyLimits, readBytes } from './body-reader.js';
import { reportIgnoredFields } from './ignored-fields.js';
import { hasBody } from './http-server.js';

/** A request whose body `@JsonBody()` has read. `rawBody` is the body as sent, without its content coding. */
export interface BodyRequest extends Request {
  rawBody?: string;
  /** The same bytes if they are not UTF-8. */
  rawBytes?: Buffer;
  /** The parsed body. */
  parsedBody?: unknown;
}

export interface BodyOptions {
  /** A request without a body counts as `{}`. */
  readonly optional?: boolean;
  /** Names the unknown fields of the body, which this DTO does not have, in a response header. */
  readonly reportsIgnored?: new () => object;
}

/**
 * The JSON body of a route; the validation pipe reads it as its DTO. A parameter decorator reads it, not a middleware, so
 * that the guards run first (decision 3). Import the DTO class as a value: `import type` disables the validation.
 */
export const JsonBody = createParamDecorator((options: BodyOptions | undefined, context): unknown => {
  const http = context.switchToHttp();
  const request = http.getRequest<BodyRequest>();
  const type = options?.reportsIgnored;
  if (request.rawBody !== undefined) return parsed(request, request.rawBody, type);
  if (options?.optional === true && !hasBody(request)) return {};
  const bytes = jsonBytes(request, http.getResponse<Response>(), bodyLimits(request).maxBytes);
  return bytes instanceof Promise ? bytes.then((read) => jsonOf(request, read, type)) : jsonOf(request, bytes, type);
});

function jsonOf(request: BodyRequest, bytes: Buffer, type?: new () => object): unknown {
  return parsed(request, textOf(request, bytes), type);
}

function textOf(request: BodyRequest, bytes: Buffer): string {
  try {
    return (request.rawBody = orInvalid(decodeUtf8, bytes));
  } catch (error) {
    request.rawBytes = bytes;
    throw error;
  }
}

function parsed(request: BodyRequest, text: string, type?: new () => object): unknown {
  request.parsedBody = orInvalid(parseJson, text);
  if (type !== undefined && request.res !== undefined) reportIgnoredFields(type, request.parsedBody, request.res);
  return request.parsedBody;
}

function orInvalid<T, R>(read: (input: T) => R, input: T): R {
  try {
    return read(input);
  } catch (error) {
    throw error instanceof InvalidJsonError ? invalid([error.violation]) : error;
  }
}

/** Reads the text of a body before its route does: `@JsonBody()` then parses this text. */
export function readJsonText(request: BodyRequest, response: Response): string | Promise<string> {
  if (request.rawBody !== undefined) return request.rawBody;
  const bytes = jsonBytes(request, response, bodyLimits(request).maxBytes);
  return bytes instanceof Promise ? bytes.then((read) => textOf(request, read)) : textOf(request, bytes);
}

/** The unparsed bytes of a JSON body of at most `maxBytes`. */
export const JsonBytes = createParamDecorator((maxBytes: number, context): Buffer | Promise<Buffer> => {
  const http = context.switchToHttp();
  return jsonBytes(http.getRequest<Request>(), http.getResponse<Response>(), maxBytes);
});

function jsonBytes(request: Request, response: Response, maxBytes: number): Buffer | Promise<Buffer> {
  requireJson(request.headers['content-type']);
  return readBytes(request, response, maxBytes);
}

/** The body that `@JsonBody()` has read: its UTF-8 encoding is the bytes that were sent. */
export function rawBodyOf({ rawBody }: BodyRequest): string {
  if (rawBody === undefined) throw new Error('the route has to read its body with @JsonBody()');
  return rawBody;
}

function requireJson(contentType: string | undefined): void {
  if (contentType === 'application/json') return;
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='));
  if (type.trim() === 'application/json' && (charset === undefined || /^charset="?utf-?8"?$/.test(charset))) return;
  throw new AppError('unsupportedMediaType', 'the body must be sent as Content-Type: application/json, in UTF-8');
}
