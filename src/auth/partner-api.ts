import { applyDecorators, Controller, UseGuards, UseInterceptors } from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import { PARTNER_API, PARTNER_ROUTES, type PartnerRouteName } from '../contracts/partner/partner.api.js';
import { COMMON_FAILURES, FailsWith, KEY_FAILURES } from '../http/route-documentation.js';
import { ActionLogInterceptor } from './action-log.interceptor.js';
import { routeDecorators } from './admin-api.js';
import { PartnerKeyGuard } from './partner-key.guard.js';

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
