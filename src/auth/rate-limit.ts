import { Inject, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { rateLimit, type RateLimitRequestHandler } from 'express-rate-limit';
import { ENV, type ResolvedEnv } from '../config/env.js';
import { AppError } from '../errors/app-error.js';
import type { AuthenticatedRequest } from './principal.js';

/**
 * `RATE_LIMIT_PER_MINUTE` requests a key and minute (decision 15). Each instance counts for itself: behind a balancer
 * the limit is that of one instance times their number. Off, it costs nothing.
 */
@Injectable()
export class RateLimit {
  private readonly limiter: RateLimitRequestHandler | undefined;

  constructor(@Inject(ENV) env: Pick<ResolvedEnv, 'RATE_LIMIT_PER_MINUTE'>) {
    if (env.RATE_LIMIT_PER_MINUTE > 0) this.limiter = limiterOf(env.RATE_LIMIT_PER_MINUTE);
  }

  /** Undefined while off. `tooManyRequests` beyond the limit; the headers report what is left. */
  count(request: AuthenticatedRequest, response: Response): Promise<void> | undefined {
    const { limiter } = this;
    if (limiter === undefined) return undefined;
    return new Promise((resolve, reject) => {
      void limiter(request, response, (error?: unknown) => {
        if (error instanceof Error) reject(error);
        else resolve();
      });
    });
  }
}

function limiterOf(limit: number): RateLimitRequestHandler {
  return rateLimit({
    windowMs: 60_000,
    limit,
    // The draft's structured fields: RateLimit-Policy and RateLimit, with Retry-After on a refusal.
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    identifier: 'per-key',
    keyGenerator: (request: AuthenticatedRequest) => request.principal?.keyId ?? '',
    handler: (_request, _response, next) =>
      next(new AppError('tooManyRequests', `this key may send ${limit} requests a minute; see Retry-After`)),
    // Its checks of a set-up by IP address, which this is not.
    validate: false,
  });
}
