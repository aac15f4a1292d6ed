import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Request } from 'express';
import type { Observable } from 'rxjs';
import { withinHaulers } from '../core/database/hauler-limit.js';

/** Runs the handler within the limit of its caller. */
@Injectable()
export class WithinHaulers implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { limit } = context.switchToHttp().getRequest<Request>().call;
    // Nest runs the handler in the context in which `handle` is called: this interceptor is the last one.
    return limit === undefined ? next.handle() : withinHaulers(limit, () => next.handle());
  }
}
