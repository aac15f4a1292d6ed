import type { ErrorBody } from './error-body.dto.js';
import type { DtoClass } from './fields/field.js';
import type { InterfaceName } from './interfaces.values.js';
import type { AdminRole } from './roles.values.js';

/*
 * Contracts: all that goes over the wire, defined once. An API is a table of routes, a field one line of a DTO. They say what a caller may
 * send and what it gets, never what a route does, and import nothing else of `src`.
 */

/** Every kind of failure of a request, with its HTTP status. */
export const KIND_STATUS = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  notFound: 404,
  methodNotAllowed: 405,
  notAcceptable: 406,
  requestTimeout: 408,
  conflict: 409,
  gone: 410,
  tooLarge: 413,
  unsupportedMediaType: 415,
  rangeNotSatisfiable: 416,
  ruleViolated: 422,
  tooManyRequests: 429,
  internal: 500,
  unavailable: 503,
} as const;

export type ErrorKind = keyof typeof KIND_STATUS;

const KINDS = Object.keys(KIND_STATUS) as ErrorKind[];

/** The kind of failure with this status; undefined if there is none. */
export function kindOf(status: number): ErrorKind | undefined {
  return KINDS.find((kind) => KIND_STATUS[kind] === status);
}

/** Header of the key: `PLATFORM-API-KEY` for keys of the platform, `API-KEY` for keys of a partner (section 5). */
export type KeyHeader = 'PLATFORM-API-KEY' | 'API-KEY';

export interface Header {
  readonly description: string;
  readonly schema: { readonly type: 'string' } & Readonly<Record<string, unknown>>;
}

type Headers = Readonly<Record<string, Header>>;

/** When a failure happens. Each example is the `error` of a response, under its name. */
export interface Failure {
  readonly description: string;
  readonly examples?: Readonly<Record<string, ErrorBody>>;
  readonly headers?: Headers;
}

export type Failures = Readonly<Partial<Record<ErrorKind, string | Failure>>>;

/**
 * Who may call a route: a key of the interface, any key of a partner, a person or token of the admin API with at least this
 * role, or anyone. A console session stands for its key, token or person.
 */
export type Role = 'key' | 'partner' | AdminRole | 'anyone';

/** What a route reads and returns: the types of its handler and of its callers. */
export interface RouteClasses {
  readonly params?: DtoClass;
  readonly query?: DtoClass;
  readonly body?: DtoClass;
  readonly response?: DtoClass;
  /** The JSON response to `dryRun`, with 200, of a route that has no response otherwise. */
  readonly preview?: DtoClass;
}

/** All else about a route but its method and path. */
export interface RouteFacts {
  readonly summary: string;
  readonly description: string;
  /** A request without a body counts as `{}`. */
  readonly isBodyOptional?: boolean;
  /** Bodies that the service accepts, where the examples of all fields together are not one. */
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: object }>>;
  /** A body that may be larger than HTTP_BODY_LIMIT, and that the handler checks itself. */
  readonly upload?: {
    readonly contentType: 'application/json' | 'video/mp4' | 'text/csv';
    readonly maxBytes: number;
    readonly schema?: DtoClass;
  };
  /** Headers that the route reads, all optional. */
  readonly requestHeaders?: Headers;
  readonly status: 200 | 201 | 202 | 204 | 302;
  /** The classes of the elements of a list that has several. The response refers to their schemas by name. */
  readonly variants?: readonly DtoClass[];
  /** The content type of a response that is a file, with range requests. */
  readonly file?: string;
  /** The content type of a response that is made while it is sent: it has no ranges. */
  readonly archive?: string;
  /** The list is also sent as CSV: the fields of its elements are the columns. `each` names one whose entries have a row each. */
  readonly csv?: true | { readonly each: string };
  /** The list is also sent as one JSON text a line. */
  readonly ndjson?: true;
  /** Describes the response where that says more than its class. */
  readonly returns?: string;
  readonly responseHeaders?: Headers;
  /** Describes the 304 to a caller whose copy is current. */
  readonly notModified?: { readonly description: string; readonly headers: Headers };
  /** The response shows a secret: no cache may store it. */
  readonly isSecret?: boolean;
  /** Failures beyond those of every route of the role: the status and the code follow from the kind. */
  readonly fails?: Failures;
  /** Its error schema has no `details` (section 2.1): the message names the fields (decision 11). */
  readonly plainErrors?: boolean;
  /** By default its name. */
  readonly operation?: string;
  /** Its name in the action log; by default the operation. */
  readonly action?: string;
  /** The default follows from the API; each route of the admin API names its role. */
  readonly role?: Role;
  /** ADMIN_READ_TOKEN may call it, although it needs a role that may act. It changes no data, and is not in the action log. */
  readonly isOpenToReadToken?: boolean;
  /** It concerns one hauler at a time, or lists by hauler: callers that are limited to haulers may call it for these. */
  readonly isPerHauler?: boolean;
  /** The kind of thing that it is about; by default the first part of its path. */
  readonly resource?: string;
}

/**
 * The definition of one route. Controllers take path, method, guard, documentation and types from here, the command line its
 * commands and options, the logs and metrics its operation.
 */
export interface RouteDefinition extends RouteClasses, RouteFacts {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the prefix, with parameters in braces. */
  readonly path: `/${string}`;
}

export interface ApiRoute extends RouteDefinition {
  /** The operation id of the documents, and its name in logs and metrics. */
  readonly operation: string;
  readonly returns: string;
  readonly role: Role;
  readonly resource: string;
}

/**
 * One interface on the wire: version, prefix, key header, and the closed set of `error.code` values
 * (section 7), each bound to the kinds of failure that may carry it.
 */
export interface ApiContract {
  readonly name: InterfaceName | 'admin' | 'partner' | 'service';
  readonly title: string;
  readonly version: string;
  readonly prefix: string;
  readonly keyHeader: KeyHeader | 'Authorization';
  /** No document describes it. */
  readonly isHidden?: boolean;
  readonly routes: Readonly<Record<string, ApiRoute>>;
  readonly codes: readonly string[];
  readonly errors: Readonly<Partial<Record<ErrorKind, string>>>;
}

type Definitions = Readonly<Record<string, RouteDefinition>>;

type Complete<Contract extends { readonly routes: Definitions }> = Contract & {
  readonly routes: {
    readonly [Name in keyof Contract['routes']]: Pick<ApiRoute, 'operation' | 'returns' | 'role' | 'resource'>;
  };
};

/** Declares a contract; the compiler refuses an error code that is not in the interface's closed set. */
export function defineApi<
  const Codes extends readonly string[],
  const Contract extends Omit<ApiContract, 'codes' | 'errors' | 'routes'> & {
    readonly routes: Definitions;
    readonly codes: Codes;
    readonly errors: Readonly<Partial<Record<ErrorKind, Codes[number]>>>;
  },
>(contract: Contract & { readonly codes: Codes }): Complete<Contract> {
  const routes = Object.entries(contract.routes).map(([name, route]) => [
    name,
    { operation: name, resource: resourceOf(route), returns: returnsOf(route), role: roleOf(contract.name), ...route },
  ]);
  return { ...contract, routes: Object.fromEntries(routes) as Complete<Contract>['routes'] };
}

const DEFAULT_ROLES: Readonly<Partial<Record<ApiContract['name'], Role>>> = {
  admin: 'admin',
  partner: 'partner',
  service: 'anyone',
};

const roleOf = (api: ApiContract['name']): Role => DEFAULT_ROLES[api] ?? 'key';

/** `HoldDetails`: "The hold details". */
const returnsOf = ({ response }: RouteDefinition): string =>
  response === undefined ? 'Done' : `The${response.name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`;

const resourceOf = ({ path }: RouteDefinition): string =>
  (path.split('/')[1] ?? '').replace(/ies$/, 'y').replace(/s$/, '');

/** What a route reads and returns, as types. */
type Input<Class> = Class extends DtoClass<infer T> ? [T] : [];
type Part<Route, Key extends string> = Route extends Readonly<Record<Key, infer Class>> ? Class : undefined;

/** The parsed input of a route, in the order in which a handler declares it: path, query, JSON body. */
export type RouteInput<Route> = [
  ...Input<Part<Route, 'params'>>,
  ...Input<Part<Route, 'query'>>,
  ...Input<Part<Route, 'body'>>,
];

/** The response of a route; `undefined` if it has no JSON body. */
export type RouteResponse<Route> =
  Part<Route, 'response'> extends DtoClass<infer T>
    ? T
    : Part<Route, 'preview'> extends DtoClass<infer T>
      ? T | undefined
      : undefined;

/** The JSON body of a route; `undefined` if it has none. */
export type RouteBody<Route> = Part<Route, 'body'> extends DtoClass<infer T> ? T : undefined;

/** The kinds of failure that a contract has a code for. */
export type KindOf<Contract extends ApiContract> = keyof Contract['errors'] & ErrorKind;

/** The codes of failures that no interface defines, the same in every interface (decisions 10, 13, 15). */
export const COMMON_ERRORS = {
  invalid: 'INVALID_PAYLOAD',
  unauthorized: 'UNAUTHORIZED',
  methodNotAllowed: 'INVALID_PAYLOAD',
  notAcceptable: 'INVALID_PAYLOAD',
  requestTimeout: 'INVALID_PAYLOAD',
  tooLarge: 'INVALID_PAYLOAD',
  unsupportedMediaType: 'INVALID_PAYLOAD',
  tooManyRequests: 'INTERNAL_ERROR',
  internal: 'INTERNAL_ERROR',
  unavailable: 'INTERNAL_ERROR',
} as const;
