import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ipKeyGenerator, MemoryStore, type Options, rateLimit, type RateLimitRequestHandler } from 'express-rate-limit';
import { AppError } from '../core/errors/app-error.js';
import { ENV, type ResolvedEnv } from '../core/config/env.js';

const WINDOW_MS = 60_000;

/** Wrong secrets within a minute, on each instance: of one client address, and of all addresses with one prefix. */
const LIMITS = { token: 60, signIn: 10, share: 60 } as const;

/** Mistyped forms of one token share these characters. They are too few to be of use to a reader of the memory. */
const PREFIX_LENGTH = 8;

/**
 * Limits how fast tokens and keys can be guessed (decision 63). Callers check a secret first and count only wrong ones:
 * the right secret is accepted whatever others behind the same address send.
 */
@Injectable()
export class GuessLimit implements OnApplicationShutdown {
  private readonly failures = new MemoryStore();

  constructor() {
    this.failures.init({ windowMs: WINDOW_MS } as Options);
  }

  onApplicationShutdown(): void {
    this.failures.shutdown();
  }

  /** Counts a wrong secret. Throws `tooManyRequests` beyond the limit. */
  async count(kind: keyof typeof LIMITS, { ip = '' }: Pick<Request, 'ip'>, secret: string): Promise<void> {
    await this.increment(kind, `address ${ipKeyGenerator(ip)}`);
    // An address that has reached its limit adds no further prefixes to the store.
    await this.increment(kind, `prefix ${secret.slice(0, PREFIX_LENGTH)}`);
  }

  private async increment(kind: keyof typeof LIMITS, key: string): Promise<void> {
    const { totalHits, resetTime } = await this.failures.increment(`${kind} ${key}`);
    if (totalHits <= LIMITS[kind]) return;
    const seconds = Math.max(1, Math.ceil(((resetTime?.getTime() ?? 0) - Date.now()) / 1_000));
    throw new AppError('tooManyRequests', 'too many wrong tokens or keys; see Retry-After', {
      headers: { 'Retry-After': String(seconds) },
    });
  }
}

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
