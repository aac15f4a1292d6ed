import {
  applyDecorators,
  type CanActivate,
  Header,
  HttpCode,
  Inject,
  Injectable,
  type NestInterceptor,
  RequestMapping,
  RequestMethod,
  type StreamableFile,
  type Type,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { ApiContract, ApiRoute, RouteInput, RouteResponse } from '../contracts/common/api-contract.js';
import { dryRunPlaceOf, hasListForms, statusesOf } from '../contracts/common/failures.js';
import type { Served } from '../core/http/call.js';
import { ActionLogInterceptor } from './action-log.interceptor.js';
import { AdminReads, DryRuns, ListForms, MaskedAnswer, WithinHaulers } from './route-interceptors.js';
import { ENV, type ResolvedEnv } from '../core/config/env.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import { apiError } from '../core/errors/app-error.js';

/** The route of a handler, for the guard. */
export const ServedRoute = Reflector.createDecorator<Served>();

/** A handler may declare parameters of Express after those of the contract, and may return JSON text or a stream of it. */
type Handler<Route> = (
  ...input: [...RouteInput<Route>, ...never[]]
) => Result<RouteResponse<Route>> | Promise<Result<RouteResponse<Route>>>;

/** Nothing for a handler that sends the response itself. */
type Result<Response> = Response | StreamableFile | string | undefined | void;

/**
 * The handler of one route of a contract: path, method, status, guard and the logs follow from the definition there. The compiler checks the handler's parameters and response against it.
 */
export function Route<const Api extends ApiContract, Name extends keyof Api['routes'] & string>(api: Api, name: Name) {
  const route = api.routes[name] as ApiRoute;
  const decorate = applyDecorators(
    RequestMapping({
      path: api.prefix + route.path.replace(/\{(\w+)\}/g, ':$1'),
      method: RequestMethod[route.method],
    }),
    HttpCode(route.status),
    ServedRoute({ api, route, statuses: statusesOf(route) }),
    ...(route.isSecret === true ? [Header('Cache-Control', 'no-store')] : []),
    UseInterceptors(...interceptorsOf(api, route)),
    ...(route.resource === 'sandbox' ? [UseGuards(SandboxGuard)] : []),
  );
  return <T extends Handler<Api['routes'][Name]>>(
    target: object,
    key: string,
    descriptor: TypedPropertyDescriptor<T>,
  ): void => {
    decorate(target, key, descriptor);
  };
}

/** None for the four interfaces: each costs time on the hot path. */
function interceptorsOf({ name }: ApiContract, route: ApiRoute): Type<NestInterceptor>[] {
  if (name !== 'admin' && name !== 'partner') return [];
  const { method, isOpenToReadToken, file, archive, isSecret } = route;
  const isRead = method === 'GET' || isOpenToReadToken === true;
  return [
    ...(dryRunPlaceOf(route) === undefined ? [] : [DryRuns]),
    ...(isRead ? [] : [ActionLogInterceptor]),
    ...(hasListForms(route) ? [ListForms] : []),
    // A new key is returned once, by the call that issues it.
    ...(isSecret === true ? [] : [MaskedAnswer]),
    // The time to send a file depends on its reader, and needs the database only at the start.
    ...(name === 'admin' && method === 'GET' && (file ?? archive) === undefined ? [AdminReads] : []),
    ...(name === 'admin' ? [WithinHaulers] : []),
  ];
}

/** Without SANDBOX every call of the sandbox is `notFound`, whatever its body. Runs after the guard of the key. */
@Injectable()
class SandboxGuard implements CanActivate {
  constructor(@Inject(ENV) private readonly env: Pick<ResolvedEnv, 'SANDBOX'>) {}

  canActivate(): boolean {
    if (this.env.SANDBOX) return true;
    throw apiError(ADMIN_API, 'notFound', 'there is no sandbox here: SANDBOX is off');
  }
}
