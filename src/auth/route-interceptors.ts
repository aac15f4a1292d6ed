import {
  type CallHandler,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
  StreamableFile,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { defer, finalize, map, mergeMap, type Observable, tap } from 'rxjs';
import { withinHaulers } from '../core/database/hauler-limit.js';
import { refuseOtherForms } from '../core/http/list-answer.js';
import { maskJson } from '../core/observability/redaction.js';
import { dryRunPlaceOf } from '../contracts/common/failures.js';
import { isJsonObject } from '../contracts/common/json.js';
import { invalid, unavailable } from '../core/errors/app-error.js';
import { servedBy } from '../core/http/call.js';
import { parseUnreadBody } from '../core/http/json-body.js';
import { isDryRun } from './action.rules.js';
import { ENV, type Env } from '../core/config/env.js';
import { Semaphore } from '../core/database/semaphore.js';

/** Runs the handler within the limit of its caller. */
@Injectable()
export class WithinHaulers implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { limit } = context.switchToHttp().getRequest<Request>().call;
    // Nest runs the handler in the context in which `handle` is called: this interceptor is the last one.
    return limit === undefined ? next.handle() : withinHaulers(limit, () => next.handle());
  }
}

/** Answers 406 where a client accepts only forms that the list does not have. */
@Injectable()
export class ListForms implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    refuseOtherForms(context.switchToHttp().getRequest<Request>());
    return next.handle();
  }
}

/**
 * Masks secrets of ours in the answers of the admin and partner API (decision 59). What callers push is stored as it was
 * sent, and may contain a key in any field. `streamedList` masks the elements of a stream.
 */
@Injectable()
export class MaskedAnswer implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map(masked));
  }
}

function masked(body: unknown): unknown {
  if (typeof body === 'string') return maskJson(body);
  if (typeof body !== 'object' || body === null || body instanceof StreamableFile) return body;
  const json = JSON.stringify(body);
  const text = maskJson(json);
  return text === json ? body : (JSON.parse(text) as unknown);
}

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

/** The response arrives within 5 s: 3 s for a connection and 1 s for a statement that had to wait so long for it follow (decision 13). */
const MAX_WAIT_MS = 1000;

/** The part of the pool that reads of the admin API may use at the same time. */
const POOL_PART = 0.4;

/**
 * Limits the database connections that reads of the admin API use: a further read waits, and is refused after
 * `MAX_WAIT_MS`.
 */
@Injectable()
export class AdminReads implements NestInterceptor {
  private readonly semaphore: Semaphore;

  constructor(@Inject(ENV) env: Pick<Env, 'DATABASE_POOL'>) {
    this.semaphore = new Semaphore(Math.max(1, Math.floor(env.DATABASE_POOL * POOL_PART)));
  }

  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return defer(() => this.acquire()).pipe(
      mergeMap(() => next.handle().pipe(finalize(() => this.semaphore.release()))),
    );
  }

  private async acquire(): Promise<void> {
    const signal = AbortSignal.timeout(MAX_WAIT_MS);
    try {
      await this.semaphore.acquire(signal);
    } catch (cause) {
      throw unavailable('too many reads of the admin API are running; try again shortly', {
        cause,
        overload: 'admin-reads',
      });
    }
  }
}
