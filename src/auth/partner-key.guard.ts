import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { ApiKeyService } from './api-key.service.js';
import type { AuthenticatedRequest } from './principal.js';
import { RateLimit } from './rate-limit.js';

/** The guard of the partner API: any key that this service issued, in either header. */
@Injectable()
export class PartnerKeyGuard implements CanActivate {
  constructor(
    private readonly keys: ApiKeyService,
    private readonly rateLimit: RateLimit,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<AuthenticatedRequest>();
    request.principal = await this.keys.authenticatePartner(request);
    await this.rateLimit.count(request, http.getResponse<Response>());
    return true;
  }
}
