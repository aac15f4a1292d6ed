import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import type { ApiContract } from '../contracts/common/api-contract.js';
import { ApiKeyService } from './api-key.service.js';
import type { AuthenticatedRequest } from './principal.js';
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

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const api = this.reflector.get<ApiContract>(HOSTED_CONTRACT, context.getClass());
    const http = context.switchToHttp();
    const request = http.getRequest<AuthenticatedRequest>();
    request.principal = await this.keys.authenticate(request, api);
    await this.rateLimit.count(request, http.getResponse<Response>());
    return true;
  }
}
