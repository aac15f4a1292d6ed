import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Request, Response } from 'express';
import { type Observable, tap } from 'rxjs';
import { dryRunPlaceOf } from '../contracts/common/failures.js';
import { isJsonObject } from '../contracts/common/json.js';
import { invalid } from '../core/errors/app-error.js';
import { servedBy } from '../core/http/call.js';
import { parseUnreadBody } from '../core/http/json-body.js';
import { isDryRun } from './action.rules.js';

/** A dry run is answered with 200. One that is asked for in the wrong place is refused: the call would act. */
@Injectable()
export class DryRuns implements NestInterceptor {
  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<Request>();
    const { route } = servedBy(request.call);
    const place = dryRunPlaceOf(route) ?? 'body';
    const { upload } = route;
    if (place === 'query' && (upload === undefined || upload.schema !== undefined)) {
      await parseUnreadBody(request, upload?.maxBytes);
    }
    const other = place === 'query' ? request.call.parsedBody : request.query;
    if (isJsonObject(other) && 'dryRun' in other) throw misplaced(place);
    return next.handle().pipe(
      tap(() => {
        const call = { route, query: request.query, body: request.call.parsedBody };
        if (isDryRun(call)) context.switchToHttp().getResponse<Response>().status(200);
      }),
    );
  }
}

const misplaced = (place: 'query' | 'body') =>
  invalid([{ path: 'dryRun', rule: 'isAbsent', message: `dryRun belongs in the ${place} of this call` }]);
