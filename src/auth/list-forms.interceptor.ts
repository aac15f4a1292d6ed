import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Request } from 'express';
import type { Observable } from 'rxjs';
import { refuseOtherForms } from '../core/http/list-answer.js';

/** Answers 406 where a client accepts only forms that the list does not have. */
@Injectable()
export class ListForms implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    refuseOtherForms(context.switchToHttp().getRequest<Request>());
    return next.handle();
  }
}
