import { applyDecorators, type Type } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOkResponse, ApiResponse, type ApiResponseOptions } from '@nestjs/swagger';
import { type ApiContract, type ErrorKind, KIND_STATUS } from '../contracts/common/api-contract.js';
import { type ErrorBody, ErrorResponse, PlainErrorResponse } from '../contracts/common/error-body.dto.js';
import type { AppError } from '../errors/app-error.js';

/** The documentation of one kind of failure. Each example is the `error` of a response, under its name. */
export interface Failure {
  readonly description: string;
  readonly examples?: Readonly<Record<string, ErrorBody>>;
  readonly headers?: ApiResponseOptions['headers'];
}

type Failures = Readonly<Partial<Record<ErrorKind, string | Failure>>>;

/** An example of a request's body, as Swagger UI offers it for sending. */
interface BodyExample {
  readonly summary: string;
  readonly value: object;
}

interface JsonBodyOptions {
  /** A request without a body is valid. */
  readonly optional?: boolean;
  /** For a DTO whose field examples together are not a valid request. */
  readonly examples?: Readonly<Record<string, BodyExample>>;
}

/** Failures of every route of every contract. A controller documents them, and a route adds its own. */
export const COMMON_FAILURES: Failures = {
  invalid: 'A field is missing or malformed; `details.violations` names every one',
  internal: 'Unexpected error; `details.requestId` names the incident',
  unavailable: 'The service is unavailable; retry after `Retry-After` seconds',
};

/** Failures of every route that requires an API key. */
export const KEY_FAILURES: Failures = {
  unauthorized: 'The API key is missing or invalid',
  tooManyRequests: 'Too many requests with this key; retry after `Retry-After` seconds',
};

/** Failures of routes with a body. */
const BODY_FAILURES: Failures = {
  requestTimeout: 'The body did not arrive in time',
  tooLarge: 'The body is too large',
  unsupportedMediaType: 'The body is not `application/json`, or has an unknown content coding',
};

/** Documents the failures of a controller or route. A route replaces what its controller documents. */
export function FailsWith(
  failures: Failures,
  type: typeof ErrorResponse | typeof PlainErrorResponse = ErrorResponse,
): MethodDecorator & ClassDecorator {
  return applyDecorators(
    ...(Object.entries(failures) as [ErrorKind, string | Failure][]).map(([kind, failure]) =>
      ApiResponse({
        status: KIND_STATUS[kind],
        type,
        ...replyOf(typeof failure === 'string' ? { description: failure } : failure),
      }),
    ),
  );
}

/** `FailsWith` for a route whose error body has no `details`. It replaces all failures of its controller. */
export function FailsWithoutDetails(failures: Failures): MethodDecorator {
  return FailsWith(
    {
      ...COMMON_FAILURES,
      ...KEY_FAILURES,
      invalid: 'A parameter is missing or malformed; `error.message` names it',
      internal: 'Unexpected error; `X-Request-Id` names the incident',
      ...failures,
    },
    PlainErrorResponse,
  );
}

/** The `error` of a response, as an example. */
export function exampleOf(api: ApiContract, { kind, message, details }: AppError): ErrorBody {
  return { code: api.errors[kind] ?? '', message, ...(details === undefined ? {} : { details }) };
}

/** Documents the JSON body of a route. */
export function TakesJson(type: Type<object>, { optional = false, examples }: JsonBodyOptions = {}): MethodDecorator {
  return applyDecorators(
    ApiBody({ type, required: !optional, ...(examples === undefined ? {} : { examples }) }),
    FailsWith(BODY_FAILURES),
  );
}

function replyOf({ description, examples, headers }: Failure) {
  return {
    description,
    ...(headers === undefined ? {} : { headers }),
    ...(examples === undefined ? {} : { examples: mapped(examples) }),
  };
}

const mapped = (examples: Readonly<Record<string, ErrorBody>>) =>
  Object.fromEntries(
    Object.entries(examples).map(([summary, error]) => [summary, { summary, value: { success: false, error } }]),
  );

const text = (maxLength: number) => ({ type: 'string' as const, maxLength });

const FILE_HEADERS = {
  ETag: { description: 'Identifies the content of the file', schema: text(128) },
  'Accept-Ranges': {
    description: 'Byte ranges are supported',
    schema: { type: 'string' as const, enum: ['bytes'] },
  },
  'Cache-Control': { description: 'Who may cache the file', schema: text(255) },
};

const CONTENT_RANGE = {
  'Content-Range': { description: 'The range in the file, and the size of the file', schema: text(64) },
};

const REQUEST_HEADERS = {
  Range: 'A byte range, such as `bytes=0-1023`; the response to several ranges is the whole file',
  'If-Range': 'The `ETag` of a partial download; if the file has changed, the response is the whole file',
  'If-None-Match': 'The `ETag` of a stored copy; if the file has not changed, the response is 304 without a body',
};

/** The failure of a range that is not part of the file. */
export const OUT_OF_RANGE = {
  description: 'The range is malformed, or outside the file',
  headers: { ...FILE_HEADERS, 'Content-Range': { description: 'The size of the file', schema: text(64) } },
};

/** Documents a route that calls `sendFile`. */
export function SendsFile(contentType: string): MethodDecorator {
  const schema = { type: 'string', format: 'binary', maxLength: Number.MAX_SAFE_INTEGER };
  const content = { [contentType]: { schema } };
  return applyDecorators(
    ...Object.entries(REQUEST_HEADERS).map(([name, description]) =>
      ApiHeader({ name, description, required: false, schema: text(255) }),
    ),
    ApiOkResponse({ description: 'The file', content, headers: FILE_HEADERS }),
    ApiResponse({
      status: 206,
      description: 'A range of the file',
      content,
      headers: { ...FILE_HEADERS, ...CONTENT_RANGE },
    }),
    ApiResponse({ status: 304, description: 'The file has not changed', headers: FILE_HEADERS }),
  );
}
