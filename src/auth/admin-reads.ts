import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from '@nestjs/common';
import { defer, finalize, mergeMap, type Observable } from 'rxjs';
import { ENV, type Env } from '../core/config/env.js';
import { Semaphore } from '../core/database/semaphore.js';
import { unavailable } from '../core/errors/app-error.js';

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
