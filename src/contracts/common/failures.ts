import { type ApiRoute, type ErrorKind, type Failure, type Failures, KIND_STATUS } from './api-contract.js';
import { fieldsOf } from './fields/field.js';

export const textHeader = (description: string, maxLength: number) => ({
  description,
  schema: { type: 'string' as const, maxLength },
});

export const FILE_HEADERS = {
  ETag: textHeader('Identifies the content of the file', 128),
  'Accept-Ranges': {
    description: 'Byte ranges are supported',
    schema: { type: 'string' as const, enum: ['bytes'] },
  },
  'Cache-Control': textHeader('Who may cache the file', 255),
};

/** Failures of every route. */
const COMMON: Failures = {
  invalid: 'A field is missing or malformed; `details.violations` names every one',
  internal: 'Unexpected error; `details.requestId` names the incident',
  unavailable: 'The service is unavailable; retry after `Retry-After` seconds',
};

/** Replaces the words about `details`. */
const PLAIN: Failures = {
  invalid: 'A parameter is missing or malformed; `error.message` names it',
  internal: 'Unexpected error; `X-Request-Id` names the incident',
};

/** Failures of every route that needs an API key. */
const KEY: Failures = {
  unauthorized: 'The API key is missing or invalid',
  tooManyRequests: 'Too many requests with this key; retry after `Retry-After` seconds',
};

/** Failures of every route that needs a token. The right token is never refused with 429. */
const TOKEN: Failures = {
  unauthorized: {
    description: 'The admin token is missing or wrong',
    headers: {
      'WWW-Authenticate': {
        description: 'The scheme: `Authorization: Bearer <token>`',
        schema: { type: 'string', enum: ['Bearer'] },
      },
    },
  },
  forbidden: 'The role of the caller does not allow this, or its haulers do not; the message names what is needed',
  tooManyRequests: 'Too many wrong tokens from this address; retry with the right one, or after `Retry-After` seconds',
};

const OF_ROLE: Readonly<Record<ApiRoute['role'], Failures>> = {
  key: KEY,
  partner: KEY,
  viewer: TOKEN,
  'viewer+video': TOKEN,
  operator: TOKEN,
  admin: TOKEN,
  anyone: {},
};

/** Failures of routes with a JSON body. */
const BODY: Failures = {
  requestTimeout: 'The body did not arrive in time',
  tooLarge: 'The body is too large',
  unsupportedMediaType: 'The body is not `application/json`, or has an unknown content coding',
};

/** A page of JSON would look like the whole list to a client that accepts CSV or NDJSON alone. */
const LIST: Failures = { notAcceptable: '`Accept` asks for CSV or NDJSON alone, which the list does not have' };

/** The failure of a range that is not part of the file. */
const FILE: Failures = {
  rangeNotSatisfiable: {
    description: 'The range is malformed, or outside the file',
    headers: { ...FILE_HEADERS, 'Content-Range': textHeader('The size of the file', 64) },
  },
};

/** Every failure that a route may answer, and when it happens. */
export function failuresOf(route: ApiRoute): [ErrorKind, Failure][] {
  const all: Failures = {
    ...COMMON,
    ...OF_ROLE[route.role],
    ...(route.plainErrors === true ? PLAIN : {}),
    ...(jsonBodyOf(route) === undefined ? {} : BODY),
    ...(route.file === undefined ? {} : FILE),
    ...(hasListForms(route) ? LIST : {}),
    ...route.fails,
  };
  return (Object.entries(all) as [ErrorKind, string | Failure][]).map(([kind, failure]) => [
    kind,
    typeof failure === 'string' ? { description: failure } : failure,
  ]);
}

/** Whether the form of the answer follows from `Accept`: each `GET` of the admin and partner API with a JSON body. */
export const hasListForms = ({ method, role, response }: ApiRoute): boolean =>
  method === 'GET' && role !== 'key' && role !== 'anyone' && response !== undefined;

/** The DTO of a JSON body, read by the service or by the handler. */
export const jsonBodyOf = ({ body, upload }: ApiRoute) => body ?? upload?.schema;

/** Where a route takes `dryRun`. A dry run is answered with 200. */
export function dryRunPlaceOf({ query, body }: Pick<ApiRoute, 'query' | 'body'>): 'query' | 'body' | undefined {
  if (query !== undefined && fieldsOf(query).has('dryRun')) return 'query';
  return body !== undefined && fieldsOf(body).has('dryRun') ? 'body' : undefined;
}

/** Every status that a route may answer. */
export function statusesOf(route: ApiRoute): ReadonlySet<number> {
  return new Set([
    route.status,
    ...(dryRunPlaceOf(route) === undefined ? [] : [200]),
    ...(route.file === undefined ? [] : [206, 304]),
    ...(route.notModified === undefined ? [] : [304]),
    ...failuresOf(route).map(([kind]) => KIND_STATUS[kind]),
  ]);
}
