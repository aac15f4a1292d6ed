import type { ADMIN_API } from '../../contracts/admin/admin.api.js';
import type { SERVICE_API } from '../../contracts/admin/service.api.js';
import type { RouteResponse } from '../../contracts/common/api-contract.js';
import type { PARTNER_API } from '../../contracts/partner/partner.api.js';

type RouteOf<Api extends { readonly routes: object }> = Api['routes'][keyof Api['routes']];

/** The routes that a session may call: `path` stands below the prefix of its API. */
type Route = RouteOf<typeof ADMIN_API> | RouteOf<typeof PARTNER_API> | RouteOf<typeof SERVICE_API>;

/** `/tickets/{id}` as the type of `/tickets/${id}`. */
type Pattern<Path extends string> = Path extends `${infer Start}{${string}}${infer End}`
  ? `${Start}${string}${Pattern<End>}`
  : Path;

type Of<Each, Method> = Each extends { readonly method: Method; readonly path: infer Path extends string }
  ? { readonly path: Pattern<Path>; readonly response: RouteResponse<Each> }
  : never;

export type Method = Route['method'];

/** The paths of a method; the compiler refuses any other. */
export type PathOf<M extends Method> = Of<Route, M>['path'];

type Matching<Each, Path> = Path extends unknown
  ? Each extends { readonly path: infer Other; readonly response: infer Response }
    ? [Path, Other] extends [Other, Path]
      ? Response
      : never
    : never
  : never;

/** What the contract says that a call returns. */
export type AnswerOf<M extends Method, Path extends string> = Matching<Of<Route, M>, Path>;
