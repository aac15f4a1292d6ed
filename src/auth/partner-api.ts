import {
  applyDecorators,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Injectable,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import type { Response } from 'express';
import { PARTNER_API, PARTNER_ROUTES, type PartnerRouteName } from '../contracts/partner/partner.api.js';
import { COMMON_FAILURES, FailsWith, KEY_FAILURES } from '../http/route-documentation.js';
import { ActionLogInterceptor } from './action-log.interceptor.js';
import { routeDecorators } from './admin-api.js';
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
    const key = hasKey(request) ? undefined : (await this.sessions.of(request))?.key;
    const { keys } = this;
    request.principal = await (key === undefined ? keys.authenticatePartner(request) : keys.authenticateSession(key));
    await this.rateLimit.count(request, http.getResponse<Response>());
    return true;
  }
}

const hasKey = ({ headers }: AuthenticatedRequest): boolean =>
  headers['api-key'] !== undefined || headers['platform-api-key'] !== undefined;

/** A controller of the partner API: prefix, guard, security and the failures of every route. */
export function PartnerController(): ClassDecorator {
  return applyDecorators(
    Controller(PARTNER_API.prefix),
    UseGuards(PartnerKeyGuard),
    UseInterceptors(ActionLogInterceptor),
    ApiSecurity('PLATFORM-API-KEY'),
    ApiSecurity('API-KEY'),
    FailsWith({ ...COMMON_FAILURES, ...KEY_FAILURES }),
  );
}

/** The handler of one route of the contract: path, method, status, documentation. */
export const PartnerRoute = (name: PartnerRouteName): MethodDecorator =>
  applyDecorators(...routeDecorators(name, PARTNER_ROUTES[name]));
