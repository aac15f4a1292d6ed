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
  /** For a DTO whose field examples do not add up to a valid request. */
  readonly examples?: Readonly<Record<string, BodyExample>>;
}

/** Failures of every route of every contract. A controller documents them, and a route adds its own. */
export const OF_ALL: Failures = {
  invalid: 'A field is missing or malformed; `details.violations` names every one',
  internal: 'Unexpected error; `details.requestId` names the incident',
  unavailable: 'The service cannot answer now; `Retry-After` says when to come back',
};

/** Failures of every route that requires an API key. */
export const OF_KEYS: Failures = {
  unauthorized: 'The API key is missing or does not match',
  tooManyRequests: 'Too many requests with this key; `Retry-After` says when to come back',
};

/** Failures of routes with a body. */
const OF_BODIES: Failures = {
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

/** `FailsWith` for a route whose error body has no `details`; it replaces everything that its controller documents. */
export function FailsPlainlyWith(failures: Failures): MethodDecorator {
  return FailsWith(
    {
      ...OF_ALL,
      ...OF_KEYS,
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
    FailsWith(OF_BODIES),
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

const OF_FILES = {
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
  headers: { ...OF_FILES, 'Content-Range': { description: 'The size of the file', schema: text(64) } },
};

/** Documents a route that answers with `sendFile`. */
export function SendsFile(contentType: string): MethodDecorator {
  const schema = { type: 'string', format: 'binary', maxLength: Number.MAX_SAFE_INTEGER };
  const content = { [contentType]: { schema } };
  return applyDecorators(
    ...Object.entries(REQUEST_HEADERS).map(([name, description]) =>
      ApiHeader({ name, description, required: false, schema: text(255) }),
    ),
    ApiOkResponse({ description: 'The file', content, headers: OF_FILES }),
    ApiResponse({
      status: 206,
      description: 'A range of the file',
      content,
      headers: { ...OF_FILES, ...CONTENT_RANGE },
    }),
    ApiResponse({ status: 304, description: 'The file has not changed', headers: OF_FILES }),
  );
}
