import { applyDecorators, type Type } from '@nestjs/common';
import { ApiBody, ApiResponse, type ApiResponseOptions } from '@nestjs/swagger';
import { type ApiContract, type ErrorKind, KIND_STATUS } from '../contracts/common/api-contract.js';
import { type ErrorBody, ErrorResponse, PlainErrorResponse } from '../contracts/common/error-body.dto.js';
import type { AppError } from '../errors/app-error.js';

/** What the documents tell of one kind of failure; each example is the `error` of an answer, under its name. */
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
  /** A request without a body is taken too. */
  readonly optional?: boolean;
  /** Where the examples of the fields are, all together, no request that the service takes. */
  readonly examples?: Readonly<Record<string, BodyExample>>;
}

/** Of any route of any contract. The controller tells them, and a route adds its own. */
export const OF_ALL: Failures = {
  invalid: 'A field is missing or malformed; `details.violations` names every one',
  internal: 'Unexpected error; `details.requestId` names the incident',
  unavailable: 'The service cannot answer now; `Retry-After` says when to come back',
};

/** Of any route that takes an API key. */
export const OF_KEYS: Failures = {
  unauthorized: 'The API key is missing or does not match',
  tooManyRequests: 'Too many requests with this key; `Retry-After` says when to come back',
};

/** What only a body can bring about. */
const OF_BODIES: Failures = {
  requestTimeout: 'The body did not arrive in time',
  tooLarge: 'The body is too large',
  unsupportedMediaType: 'The body is no `application/json`, or has an unknown content coding',
};

/** How a controller or a route of it can fail; what a route says stands in the place of what its controller says. */
export function FailsWith(
  failures: Failures,
  type: typeof ErrorResponse | typeof PlainErrorResponse = ErrorResponse,
): MethodDecorator & ClassDecorator {
  return applyDecorators(
    ...(Object.entries(failures) as [ErrorKind, string | Failure][]).map(([kind, told]) =>
      ApiResponse({
        status: KIND_STATUS[kind],
        type,
        ...replyOf(typeof told === 'string' ? { description: told } : told),
      }),
    ),
  );
}

/** Stands above a route with a key whose error body has no `details`, in the place of all that its controller says. */
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

/** The `error` of the answer that such a failure gets from a contract. */
export function exampleOf(api: ApiContract, { kind, message, details }: AppError): ErrorBody {
  return { code: api.errors[kind] ?? '', message, ...(details === undefined ? {} : { details }) };
}

/** Stands above a route that takes a JSON body. */
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
