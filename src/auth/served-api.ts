import {
  applyDecorators,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Inject,
  Injectable,
  SetMetadata,
  UseGuards,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { rateLimit, type RateLimitRequestHandler } from 'express-rate-limit';
import { Reflector } from '@nestjs/core';
import { ApiSecurity } from '@nestjs/swagger';
import { ENV, type ResolvedEnv } from '../config/env.js';
import { AppError } from '../errors/app-error.js';
import type { AuthenticatedRequest, HaulerPrincipal, Principal } from './principal.js';
import type { ApiContract } from '../contracts/common/api-contract.js';
import type { BodyRequest } from '../http/json-body.js';
import type { RecordedRequest } from '../http/recorded-request.js';
import { FailsWith, COMMON_FAILURES, KEY_FAILURES } from '../http/route-documentation.js';
import { ApiKeyService } from './api-key.service.js';

/**
 * `RATE_LIMIT_PER_MINUTE` requests per key and minute (decision 15). Each instance counts its own requests: behind a load
 * balancer the limit is multiplied by the number of instances.
 */
@Injectable()
export class RateLimit {
  private readonly limiter: RateLimitRequestHandler | undefined;

  constructor(@Inject(ENV) env: Pick<ResolvedEnv, 'RATE_LIMIT_PER_MINUTE'>) {
    if (env.RATE_LIMIT_PER_MINUTE > 0) this.limiter = limiterOf(env.RATE_LIMIT_PER_MINUTE);
  }

  /** Undefined without a limit. Rejects with `tooManyRequests` beyond it. Sets headers with the remaining requests. */
  count(request: AuthenticatedRequest, response: Response): Promise<void> | undefined {
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
    keyGenerator: (request: AuthenticatedRequest) => request.principal?.keyId ?? '',
    handler: (_request, _response, next) =>
      next(new AppError('tooManyRequests', `this key may send ${limit} requests a minute; see Retry-After`)),
    // These checks are for limits by IP address.
    validate: false,
  });
}

/** Metadata of a controller: the contract that it serves. */
const SERVED_CONTRACT = Symbol('served contract');

/** Checks the API key of a call. The contract of the controller defines the key header and the required interface. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly keys: ApiKeyService,
    private readonly rateLimit: RateLimit,
  ) {}

  /** Returns without a promise if the key is cached, because promises cost time on the hot path. */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const api = this.reflector.get<ApiContract>(SERVED_CONTRACT, context.getClass());
    const http = context.switchToHttp();
    const request = http.getRequest<AuthenticatedRequest>();
    if (request.replay !== undefined) {
      request.principal = request.replay.caller;
      return true;
    }
    const response = http.getResponse<Response>();
    const caller = this.keys.authenticate(request, api);
    if (!(caller instanceof Promise)) return this.accept(caller, request, response);
    return caller.then((known) => this.accept(known, request, response));
  }

  private accept(caller: Principal, request: AuthenticatedRequest, response: Response): boolean | Promise<boolean> {
    request.principal = caller;
    return this.rateLimit.count(request, response)?.then(() => true) ?? true;
  }
}

/** Declares the contract of a controller: its prefix, API key, documentation and error responses. */
export function ServedApi(api: ApiContract): ClassDecorator {
  return applyDecorators(
    Controller(api.prefix),
    SetMetadata(SERVED_CONTRACT, api),
    UseGuards(ApiKeyGuard),
    ApiSecurity(api.keyHeader),
    FailsWith({ ...COMMON_FAILURES, ...KEY_FAILURES }),
  );
}

/** The request of a Scale or Account call, as a route receives it with `@Req()`. */
export type ServedCall = BodyRequest & AuthenticatedRequest & RecordedRequest;

/**
 * The caller of a request. Routes call this function, because the global pipes would process a parameter with its own
 * decorator on every call.
 */
export function principalOf({ principal }: AuthenticatedRequest): Principal {
  if (principal === undefined) throw new Error('the route needs an API key');
  return principal;
}

/** The caller, and the response that receives headers. */
export function callContextOf({ principal, res: response }: ServedCall): {
  caller: HaulerPrincipal;
  response: Response;
} {
  if (response === undefined || !hasHauler(principal)) throw new Error('the route needs the API key of a hauler');
  return { caller: principal, response };
}

function hasHauler(principal: AuthenticatedRequest['principal']): principal is HaulerPrincipal {
  return typeof principal?.haulerId === 'string';
}
