import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Request, Response } from 'express';
import { rateLimit, type RateLimitRequestHandler, type Store } from 'express-rate-limit';
import { DataSource } from 'typeorm';
import { ENV, type ResolvedEnv } from '../config/env.js';
import { AppError } from '../errors/app-error.js';
import { SharedCounts } from './shared-counts.js';

/**
 * `RATE_LIMIT_PER_MINUTE` requests per key and minute (decision 15), over all instances: an instance knows of the others'
 * requests within a second.
 */
@Injectable()
export class RateLimit implements OnApplicationShutdown {
  private readonly limiter: RateLimitRequestHandler | undefined;
  private readonly counts: SharedCounts;

  constructor(@Inject(ENV) env: Pick<ResolvedEnv, 'RATE_LIMIT_PER_MINUTE'>, dataSource: DataSource) {
    this.counts = new SharedCounts(dataSource);
    if (env.RATE_LIMIT_PER_MINUTE > 0) this.limiter = limiterOf(env.RATE_LIMIT_PER_MINUTE, this.counts);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.counts.flush();
  }

  /** Undefined without a limit. Rejects with `tooManyRequests` beyond it. Sets headers with the remaining requests. */
  count(request: Request, response: Response): Promise<void> | undefined {
    return this.limiter && passLimiter(this.limiter, request, response);
  }
}

/** Rejects with the error of the limiter's handler if the limit is reached. */
function passLimiter(limiter: RateLimitRequestHandler, request: Request, response: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    void limiter(request, response, (error?: unknown) => {
      if (error instanceof Error) reject(error);
      else resolve();
    });
  });
}

function limiterOf(limit: number, store: Store): RateLimitRequestHandler {
  return rateLimit({
    windowMs: 60_000,
    limit,
    store,
    // The structured fields of the draft: RateLimit-Policy and RateLimit. A refusal also has Retry-After.
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    identifier: 'per-key',
    keyGenerator: (request: Request) => request.call.principal?.keyId ?? '',
    handler: (_request, _response, next) =>
      next(new AppError('tooManyRequests', `this key may send ${limit} requests a minute; see Retry-After`)),
    // These checks are for limits by IP address.
    validate: false,
  });
}
