import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import type { ApiContract } from '../contracts/common/api-contract.js';
import { ApiKeyService } from './api-key.service.js';
import type { AuthenticatedRequest, Principal } from './principal.js';
import { RateLimit } from './rate-limit.js';

/** Metadata of a controller: the contract that it hosts. */
export const HOSTED_CONTRACT = Symbol('hosted contract');

/** One guard for both headers: the hosted contract says which one carries the key, and which scope opens it. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly keys: ApiKeyService,
    private readonly rateLimit: RateLimit,
  ) {}

  /** At once where the key is known already, as it nearly always is: every promise costs each request. */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const api = this.reflector.get<ApiContract>(HOSTED_CONTRACT, context.getClass());
    const http = context.switchToHttp();
    const request = http.getRequest<AuthenticatedRequest>();
    if (request.replay !== undefined) {
      request.principal = request.replay.caller;
      return true;
    }
    const response = http.getResponse<Response>();
    const caller = this.keys.authenticate(request, api);
    if (!(caller instanceof Promise)) return this.letIn(caller, request, response);
    return caller.then((known) => this.letIn(known, request, response));
  }

  private letIn(caller: Principal, request: AuthenticatedRequest, response: Response): boolean | Promise<boolean> {
    request.principal = caller;
    return this.rateLimit.count(request, response)?.then(() => true) ?? true;
  }
}
