import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { rateLimit } from 'express-rate-limit';
import { AppError } from '../errors/app-error.js';
import { passLimiter } from './served-api.js';

/** Failed sign-ins that one address may make within a minute, on each instance. */
const MAX_TRIES = 10;

/** Limits how fast secrets can be tried. */
@Injectable()
export class SignInTries implements CanActivate {
  private readonly limiter = rateLimit({
    windowMs: 60_000,
    limit: MAX_TRIES,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    skipSuccessfulRequests: true,
    handler: (_request, _response, next) =>
      next(new AppError('tooManyRequests', 'too many failed sign-ins from this address; see Retry-After')),
    // Behind a proxy all visitors have its address and share one limit.
    validate: false,
  });

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    await passLimiter(this.limiter, http.getRequest<Request>(), http.getResponse<Response>());
    return true;
  }
}
