import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { ApiKeyService } from './api-key.service.js';
import { ConsoleSessions } from './console-sessions.js';
import type { AuthenticatedRequest } from './principal.js';
import { RateLimit } from './served-api.js';

/** The guard of the partner API: any key that this service issued, in either header or in a console session. */
@Injectable()
export class PartnerKeyGuard implements CanActivate {
  constructor(
    private readonly keys: ApiKeyService,
    private readonly rateLimit: RateLimit,
    private readonly sessions: ConsoleSessions,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<AuthenticatedRequest>();
    const { rawHeaders, socket } = request;
    const apiKey = hasKey(request) ? undefined : this.sessions.of(request)?.apiKey;
    const headers = apiKey === undefined ? rawHeaders : ['API-KEY', apiKey];
    request.principal = await this.keys.authenticatePartner({ rawHeaders: headers, socket });
    await this.rateLimit.count(request, http.getResponse<Response>());
    return true;
  }
}

const hasKey = ({ headers }: AuthenticatedRequest): boolean =>
  headers['api-key'] !== undefined || headers['platform-api-key'] !== undefined;
