import type { ADMIN_API } from '../../contracts/admin/admin.api.js';
import type { SERVICE_API } from '../../contracts/admin/service.api.js';
import type { RouteBody, RouteResponse } from '../../contracts/common/api-contract.js';
import type { Instant } from '../../contracts/common/instant.js';
import type { PARTNER_API } from '../../contracts/partner/partner.api.js';

type RouteOf<Api extends { readonly routes: object }> = Api['routes'][keyof Api['routes']];

/** The routes that a session may call: `path` stands below the prefix of its API. */
type Route = RouteOf<typeof ADMIN_API> | RouteOf<typeof PARTNER_API> | RouteOf<typeof SERVICE_API>;

/** `/tickets/{id}` as the type of `/tickets/${id}`. */
type Pattern<Path extends string> = Path extends `${infer Start}{${string}}${infer End}`
  ? `${Start}${string}${Pattern<End>}`
  : Path;

type Of<Each, Method> = Each extends { readonly method: Method; readonly path: infer Path extends string }
  ? { readonly path: Pattern<Path>; readonly response: RouteResponse<Each>; readonly body: RouteBody<Each> }
  : never;

export type Method = Route['method'];

/** The paths of a method; the compiler refuses any other. */
export type PathOf<M extends Method> = Of<Route, M>['path'];

type Matching<Each, Path, Part extends 'response' | 'body'> = Path extends unknown
  ? Each extends { readonly path: infer Other; readonly response: unknown; readonly body: unknown }
    ? [Path, Other] extends [Other, Path]
      ? Each[Part]
      : never
    : never
  : never;

/** What the contract says that a call returns. */
export type AnswerOf<M extends Method, Path extends string> = Matching<Of<Route, M>, Path, 'response'>;

/** A body before it is read: its instants may be any text of a time. */
type Sent<T> = T extends string
  ? Instant extends T
    ? string
    : T
  : T extends object
    ? { readonly [Name in keyof T]: Sent<T[Name]> }
    : T;

/** What the contract says that a call sends. */
export type BodyOf<M extends Method, Path extends string> = Sent<Matching<Of<Route, M>, Path, 'body'>>;

/** The elements of a list. */
export type RowOf<Path extends string> =
  AnswerOf<'GET', Path> extends { readonly data: readonly (infer Row)[] } ? Row : never;
