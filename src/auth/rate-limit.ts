import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { rateLimit, type RateLimitRequestHandler } from 'express-rate-limit';
import { ENV, type ResolvedEnv } from '../core/config/env.js';
import { AppError } from '../core/errors/app-error.js';

/** `RATE_LIMIT_PER_MINUTE` requests per key, minute and instance (decision 15). */
@Injectable()
export class RateLimit {
  private readonly limiter: RateLimitRequestHandler | undefined;

  constructor(@Inject(ENV) env: Pick<ResolvedEnv, 'RATE_LIMIT_PER_MINUTE'>) {
    if (env.RATE_LIMIT_PER_MINUTE > 0) this.limiter = limiterOf(env.RATE_LIMIT_PER_MINUTE);
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

function limiterOf(limit: number): RateLimitRequestHandler {
  return rateLimit({
    windowMs: 60_000,
    limit,
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
