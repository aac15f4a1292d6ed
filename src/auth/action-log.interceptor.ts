import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Request } from 'express';
import { catchError, mergeMap, type Observable, throwError } from 'rxjs';
import { type ApiRoute, KIND_STATUS } from '../contracts/common/api-contract.js';
import { AppError } from '../core/errors/app-error.js';
import { servedBy } from '../core/http/call.js';
import { changesOf, isDryRun, resourceOf } from './action.rules.js';
import { ActionLog, type NewAction } from './action-log.repository.js';

/**
 * Stores each successful change in the action log before the response is sent. A call that failed with 5xx may have
 * changed something: it is stored with its error. A refused call changed nothing.
 */
@Injectable()
export class ActionLogInterceptor implements NestInterceptor {
  constructor(private readonly actions: ActionLog) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<Request>();
    const { route } = servedBy(request.call);
    return next.handle().pipe(
      mergeMap(async (response: unknown) => {
        await this.record(request, route, response);
        return response;
      }),
      catchError((error: unknown) => {
        // The response does not wait: the reason for the failure may be the database that stores the action.
        if (!isRefusal(error)) this.record(request, route, undefined, messageOf(error)).catch(() => undefined);
        return throwError(() => error);
      }),
    );
  }

  private async record(request: Request, route: ApiRoute, response: unknown, error?: string): Promise<void> {
    const { params, query } = request;
    const { parsedBody: body, principal } = request.call;
    const call = { route, params, query, body, response, principal };
    if (isDryRun(call)) return;
    const changes = changesOf(call);
    await this.actions.record({
      ...whoOf(request),
      action: route.action ?? route.operation,
      resource: resourceOf(call),
      ...(changes === undefined ? {} : { changes }),
      ...(error === undefined ? {} : { error }),
    });
  }
}

const isRefusal = (error: unknown): boolean => error instanceof AppError && KIND_STATUS[error.kind] < 500;

/** The message of an unexpected error may contain anything, and is in the service log. */
const messageOf = (error: unknown): string => (error instanceof AppError ? error.message : 'unexpected error');

/** Who sent a call, as the action log names them. */
export function whoOf(request: Request): Pick<NewAction, 'actor' | 'person'> {
  const { person } = request.call.admin ?? {};
  return { actor: actorOf(request), ...(person === undefined ? {} : { person }) };
}

export function actorOf({ call: { principal, admin }, headers }: Request): string {
  if (principal !== undefined) return `partner:${principal.keyPrefix}`;
  if (admin !== undefined && admin.actor !== 'admin') return admin.actor;
  return headers.authorization === undefined ? 'console' : 'admin';
}
