import {
  applyDecorators,
  Controller,
  HttpCode,
  RequestMapping,
  RequestMethod,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiSecurity } from '@nestjs/swagger';
import { PARTNER_API, PARTNER_ROUTES, type PartnerRouteName } from '../contracts/partner/partner.api.js';
import { FailsWith, OF_ALL, OF_KEYS, TakesJson } from '../http/route-documentation.js';
import { ActionLogInterceptor, ActionOf } from './action-log.interceptor.js';
import { PartnerKeyGuard } from './partner-key.guard.js';

/** A controller of the partner API: prefix, guard, security and the failures of every route. */
export function PartnerController(): ClassDecorator {
  return applyDecorators(
    Controller(PARTNER_API.prefix),
    UseGuards(PartnerKeyGuard),
    UseInterceptors(ActionLogInterceptor),
    ApiSecurity('PLATFORM-API-KEY'),
    ApiSecurity('API-KEY'),
    FailsWith({ ...OF_ALL, ...OF_KEYS }),
  );
}

/** The handler of one route of the contract: path, method, status, documentation. */
export function PartnerRoute(name: PartnerRouteName): MethodDecorator {
  const { path, method, status, summary, description, body, examples, response, returns, fails } = PARTNER_ROUTES[name];
  return applyDecorators(
    RequestMapping({ path: path.replace(/\{(\w+)\}/g, ':$1'), method: RequestMethod[method] }),
    HttpCode(status),
    ActionOf({ name, path }),
    ApiOperation({ operationId: name, summary, description }),
    ...(body === undefined ? [] : [TakesJson(body, examples === undefined ? {} : { examples })]),
    ApiResponse({ status, description: returns, ...(response === undefined ? {} : { type: response }) }),
    FailsWith(fails ?? {}),
  );
}
