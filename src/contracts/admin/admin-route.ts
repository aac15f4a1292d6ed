import { type ApiRoute, COMMON_ERRORS } from '../common/api-contract.js';
import type { DtoClass } from '../common/fields/field.js';
import { HistoryEntry } from './history.dto.js';
import { IdParam, listOf, ListQuery } from './list.dto.js';

/** The code of each kind of failure. */
export const ADMIN_ERRORS = {
  ...COMMON_ERRORS,
  notFound: 'NOT_FOUND',
  conflict: 'CONFLICT',
  gone: 'NOT_FOUND',
  rangeNotSatisfiable: 'INVALID_PAYLOAD',
} as const;

/**
 * One route of the admin API. Controllers take path, method, documentation and types from here; the command line
 * derives its commands and options from here. The name of a route is its operation id.
 */
export interface AdminRoute extends ApiRoute {
  /** Below the prefix, with parameters in braces. Its first part is the tag in the document. */
  readonly path: `/${string}`;
  readonly summary: string;
  readonly description: string;
  readonly params?: DtoClass;
  readonly query?: DtoClass;
  /** The JSON body. */
  readonly body?: DtoClass;
  /** A request without a body counts as `{}`. */
  readonly isBodyOptional?: boolean;
  /** Bodies that the service accepts, where the examples of all fields together are not one. */
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: object }>>;
  /** A body that is larger than HTTP_BODY_LIMIT and that the handler reads itself. */
  readonly upload?: {
    readonly contentType: 'application/json' | 'video/mp4';
    readonly maxBytes: number;
    readonly schema?: DtoClass;
  };
  readonly status: 200 | 201 | 202 | 204;
  /** The JSON response. */
  readonly response?: DtoClass;
  /** Schemas that the response refers to by name. */
  readonly variants?: readonly DtoClass[];
  /** The content type of a response that is a file, with range requests. */
  readonly file?: string;
  /** Describes the response. */
  readonly returns: string;
  /** The response shows a secret: no cache may store it. */
  readonly isSecret?: boolean;
  /** Failures beyond those of every route: the code follows from the kind, the text says when it happens. */
  readonly fails?: Readonly<Partial<Record<keyof typeof ADMIN_ERRORS, string>>>;
}

/** The common part of a list. */
export const page = <T extends object>(element: DtoClass<T>, elements: string) =>
  ({ method: 'GET', status: 200, response: listOf(element), returns: `A page of ${elements}` }) as const;

/** The common part of a route whose path has the id of a record. */
export const ofOne = (noun: string) => ({ params: IdParam, fails: { notFound: `No ${noun} has this id` } }) as const;

/** The common part of a look-up by id. */
export const read = <T extends object>(response: DtoClass<T>, noun: string) =>
  ({ ...ofOne(noun), method: 'GET', status: 200, response, returns: `The ${noun}` }) as const;

/** The history of a record. */
export const history = (path: `/${string}`, noun: string, events: string) =>
  ({
    ...page(HistoryEntry, 'events'),
    path: `${path}/{id}/history`,
    summary: `List the history of ${noun}`,
    description: `${events} Newest first, at most the newest 1,000. Exchanges are kept for some days.`,
    params: IdParam,
    query: ListQuery,
    fails: { notFound: 'Nothing has this id' },
  }) as const;
