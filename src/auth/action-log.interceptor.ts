import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { mergeMap, type Observable } from 'rxjs';
import type { BodyRequest } from '../http/json-body.js';
import { changesOf, resourceOf } from './action.rules.js';
import { ActionLog } from './action-log.repository.js';
import type { AuthenticatedRequest } from './principal.js';

const ROUTE = Symbol('route of an action');

interface ActionRoute {
  /** The operation id. */
  readonly name: string;
  /** Below the prefix of the API. */
  readonly path: string;
}

/** Names the route of a handler for the action log. */
export const ActionOf = (route: ActionRoute): MethodDecorator => SetMetadata(ROUTE, route);

/** Checks of a connection change nothing. */
const READS = new Set(['checkConnection']);

/** Stores each successful change in the action log before the response is sent. */
@Injectable()
export class ActionLogInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly actions: ActionLog,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest & BodyRequest>();
    const route = this.reflector.get<ActionRoute | undefined>(ROUTE, context.getHandler());
    if (route === undefined || request.method === 'GET' || request.method === 'HEAD' || READS.has(route.name)) {
      return next.handle();
    }
    return next.handle().pipe(
      mergeMap(async (response: unknown) => {
        const changes = changesOf(request.parsedBody);
        if (changes?.['dryRun'] !== true) await this.record(request, route, changes, response);
        return response;
      }),
    );
  }

  private async record(
    request: AuthenticatedRequest,
    { name, path }: ActionRoute,
    changes: Record<string, unknown> | undefined,
    response: unknown,
  ): Promise<void> {
    const { params, principal } = request;
    const resource = resourceOf({ path, params: params as Record<string, string>, response, principal });
    const entry = { actor: actorOf(request), action: name, resource };
    await this.actions.record(changes === undefined ? entry : { ...entry, changes });
  }
}

function actorOf({ principal, headers }: AuthenticatedRequest): string {
  if (principal !== undefined) return `partner:${principal.keyPrefix}`;
  return headers.authorization === undefined ? 'console' : 'admin';
}
