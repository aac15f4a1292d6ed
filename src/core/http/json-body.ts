import { createParamDecorator } from '@nestjs/common';
import type { Request, Response } from 'express';
import { decodeUtf8, InvalidJsonError, isJsonObject, joinPath, parseJson } from '../../contracts/common/json.js';
import { AppError, invalid } from '../errors/app-error.js';
import { ReceivedBody } from '../errors/error-body.js';
import { bodyLimits, readBytes, readBytesWithoutKey } from './body-reader.js';
import { hasBody } from './http-server.js';
import { mediaTypeOf } from './headers.js';
import { type Call, servedBy } from './call.js';
import { type DtoClass, fieldPlans, type Nested } from '../../contracts/common/fields/field.js';

const JSON_MEDIA_TYPE = 'application/json';

/**
 * The JSON body of a route; the validation pipe reads it as its DTO. A parameter decorator reads it, not a middleware, so
 * that the guards run first (decision 3). Import the DTO class as a value: `import type` disables the validation. A caller
 * of one of the four interfaces learns which fields were ignored. A route that anyone may call has a small body.
 */
export const JsonBody = createParamDecorator((_options: undefined, context): unknown => {
  const http = context.switchToHttp();
  const request = http.getRequest<Request>();
  const { isBodyOptional, body, role, upload } = servedBy(request.call).route;
  if (isBodyOptional === true && request.call.rawBody === undefined && !hasBody(request)) return {};
  const reported = role === 'key' ? body : undefined;
  const read = role === 'anyone' ? readBytesWithoutKey : readAtMost(upload?.maxBytes);
  const text = readJsonText(request, read);
  return text instanceof Promise
    ? text.then((received) => parsed(request, received, reported))
    : parsed(request, text, reported);
});

function textOf(request: Request, bytes: Buffer): string {
  try {
    return (request.call.rawBody = orInvalid(decodeUtf8, bytes));
  } catch (error) {
    request.call.rawBytes = bytes;
    throw error;
  }
}

function parsed({ call, res: response }: Request, text: string, reported?: DtoClass): ReceivedBody {
  const value = (call.parsedBody ??= orInvalid(parseJson, text));
  const isReported = reported !== undefined && response !== undefined;
  return new ReceivedBody(value, text, isReported ? () => reportIgnoredFields(reported, value, response) : undefined);
}

function orInvalid<T, R>(read: (input: T) => R, input: T): R {
  try {
    return read(input);
  } catch (error) {
    throw error instanceof InvalidJsonError ? invalid([error.violation]) : error;
  }
}

/** Reads the text of a body once. Others than the route may read it: `@JsonBody()` then parses the same text. */
export function readJsonText(
  request: Request,
  read: (request: Request) => Buffer | Promise<Buffer> = readAtMost(),
): string | Promise<string> {
  const { call } = request;
  const known = call.rawBody ?? call.receiving;
  if (known !== undefined) return known;
  requireJson(request.headers['content-type']);
  const bytes = read(request);
  if (!(bytes instanceof Promise)) return textOf(request, bytes);
  return (call.receiving = bytes.then((received) => textOf(request, received)));
}

/** Parses a body that perhaps no route reads. A body that cannot be read or parsed is ignored. */
export async function parseUnreadBody(request: Request, maxBytes?: number): Promise<void> {
  if (!hasBody(request)) return;
  try {
    parsed(request, await readJsonText(request, readAtMost(maxBytes)));
  } catch {
    // The response of the caller does not depend on the body.
  }
}

const readAtMost =
  (maxBytes?: number) =>
  (request: Request): Buffer | Promise<Buffer> =>
    readBytes(request, maxBytes ?? bodyLimits(request).maxBytes);

/** The body that `@JsonBody()` has read: its UTF-8 encoding is the bytes that were sent. */
export function rawBodyOf({ rawBody }: Call): string {
  if (rawBody === undefined) throw new Error('the route has to read its body with @JsonBody()');
  return rawBody;
}

/** The media type decides (decision 10): JSON is UTF-8, whatever its `charset` says. */
function requireJson(contentType: string | undefined): void {
  if (contentType === JSON_MEDIA_TYPE || mediaTypeOf(contentType).type === JSON_MEDIA_TYPE) return;
  throw new AppError('unsupportedMediaType', 'the body must be sent as Content-Type: application/json');
}

/** Names the fields of a request that the service ignored (decision 51). */
export const IGNORED_FIELDS_HEADER = 'Ignored-Fields';

const MAX_PATHS = 10;
const MAX_LENGTH = 4_096;

/** The known fields of a DTO class. A field of objects, or of a list of objects, has their type. */
type Fields = ReadonlyMap<string, Nested | undefined>;

const known = new Map<DtoClass<object>, Fields>();

function knownFieldsOf(type: DtoClass<object>): Fields {
  let fields = known.get(type);
  if (fields === undefined) {
    fields = new Map(fieldPlans(type).map(([name, { nested }]) => [name, nested]));
    known.set(type, fields);
  }
  return fields;
}

/** Sets the header if the body has unknown fields. The body need not be valid. */
function reportIgnoredFields(type: DtoClass, body: unknown, response: Response): void {
  const value = ignoredFieldsOf(type, body).join(', ');
  if (value === '') return;
  response.setHeader(IGNORED_FIELDS_HEADER, value.length <= MAX_LENGTH ? value : `${value.slice(0, MAX_LENGTH)}...`);
}

/** The paths of the first unknown fields of a body, each with the known name that may have been meant. */
export function ignoredFieldsOf(type: DtoClass, body: unknown): string[] {
  const found: string[] = [];
  collect(knownFieldsOf(type), body, '', found);
  return found.slice(0, MAX_PATHS);
}

function collect(fields: Fields, value: unknown, path: string, found: string[]): void {
  if (!isJsonObject(value)) return;
  for (const name of Object.keys(value)) {
    if (found.length >= MAX_PATHS) return;
    if (!fields.has(name)) {
      found.push(describe(joinPath(path, name), name, fields));
      continue;
    }
    const nested = fields.get(name);
    if (nested === undefined) continue;
    const inner = knownFieldsOf(nested.type);
    const content = value[name];
    if (!nested.isArray) collect(inner, content, joinPath(path, name), found);
    else if (Array.isArray(content)) {
      content.forEach((element, i) => collect(inner, element, joinPath(joinPath(path, name), i), found));
    }
  }
}

function describe(path: string, name: string, fields: Fields): string {
  const encoded = path.toWellFormed().replace(/[^\x21-\x7e]+/gu, encodeURIComponent);
  const meant = [...fields.keys()].find((field) => isNearly(name, field));
  return meant === undefined ? encoded : `${encoded} (did you mean ${meant}?)`;
}

/** Whether two names differ by case, or by one letter that is absent, added, replaced or swapped with its neighbour. */
export function isNearly(name: string, other: string): boolean {
  const [a, b] = [name.toLowerCase(), other.toLowerCase()];
  if (Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  if (a.slice(start) === b.slice(start)) return true;
  const [restA, restB] = [a.slice(start + 1), b.slice(start + 1)];
  if (restA === restB || restA === b.slice(start) || a.slice(start) === restB) return true;
  const isSwapped = a[start] === b[start + 1] && a[start + 1] === b[start];
  return isSwapped && a.slice(start + 2) === b.slice(start + 2);
}
