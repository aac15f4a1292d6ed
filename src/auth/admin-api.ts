import {
  applyDecorators,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Header,
  HttpCode,
  Injectable,
  RequestMapping,
  RequestMethod,
  type StreamableFile,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiBody,
  ApiConsumes,
  ApiExtraModels,
  ApiOperation,
  ApiResponse,
  ApiTags,
} from '@nestjs/swagger';
import type { Request } from 'express';
import {
  ADMIN_API,
  ADMIN_ROUTES,
  type AdminInput,
  type AdminResponse,
  type AdminRouteName,
} from '../contracts/admin/admin.api.js';
import type { AdminRoute as Route } from '../contracts/admin/admin-route.js';
import { apiError } from '../errors/app-error.js';
import { soleHeader } from '../http/headers.js';
import { FailsWith, COMMON_FAILURES, OUT_OF_RANGE, SendsFile, TakesJson } from '../http/route-documentation.js';
import { ActionLogInterceptor, ActionOf } from './action-log.interceptor.js';
import { AdminReads } from './admin-reads.js';
import { MaskedAnswer } from './masked-answer.interceptor.js';
import { ConsoleSessions } from './console-sessions.js';
import { GuessLimit } from './guess-limit.js';

/** Name of the admin API's security scheme in its document. */
export const ADMIN_SECURITY = 'ADMIN-TOKEN';

const UNAUTHORIZED = {
  description: 'The admin token is missing or wrong',
  headers: {
    'WWW-Authenticate': {
      description: 'The scheme: `Authorization: Bearer <token>`',
      schema: { type: 'string' as const, enum: ['Bearer'] },
    },
  },
};

/** The right token is never refused with it. */
const TOO_MANY = 'Too many wrong tokens from this address; retry with the right one, or after `Retry-After` seconds';

const NO_STORE_HEADER = {
  'Cache-Control': {
    description: 'No cache may store the response',
    schema: { type: 'string' as const, enum: ['no-store'] },
  },
};

/**
 * Allows `Authorization: Bearer` with ADMIN_TOKEN or ADMIN_READ_TOKEN, or a console session. Guards the admin API and
 * /metrics. The check of a connection counts as a read.
 */
@Injectable()
export class AdminGuard implements CanActivate {
  constructor(
    private readonly sessions: ConsoleSessions,
    private readonly guesses: GuessLimit,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const kind = await this.kindOf(request);
    if (kind === 'admin') return true;
    if (kind === 'reader' && isRead(request)) return true;
    const message =
      kind === 'reader'
        ? 'this token may only read; changes need the admin token'
        : 'send the admin token as Authorization: Bearer <token>';
    throw apiError(ADMIN_API, 'unauthorized', message, { headers: { 'WWW-Authenticate': 'Bearer' } });
  }

  private async kindOf(request: Request) {
    if (request.headers.authorization === undefined) return (await this.sessions.of(request))?.kind;
    const header = soleHeader(request, 'authorization') ?? '';
    const token = /^bearer +(.+)$/i.exec(header)?.[1] ?? '';
    const kind = this.sessions.kindOf(token);
    if (kind === undefined && token !== '') await this.guesses.count('token', request, token);
    return kind;
  }
}

const isRead = ({ method, path }: Request): boolean =>
  method === 'GET' || method === 'HEAD' || (method === 'POST' && /^\/admin\/v1\/connections\/[^/]+\/check$/.test(path));

/** A controller of the admin API: prefix, guard, security and the failures of every route. */
export function AdminController(): ClassDecorator {
  return applyDecorators(
    Controller(ADMIN_API.prefix),
    UseGuards(AdminGuard),
    UseInterceptors(ActionLogInterceptor),
    ApiBearerAuth(ADMIN_SECURITY),
    FailsWith({ ...COMMON_FAILURES, unauthorized: UNAUTHORIZED, tooManyRequests: TOO_MANY }),
  );
}

/** A handler may declare parameters of Express after those of the contract, and may return JSON text or a stream of it. */
type Handler<Name extends AdminRouteName> = (
  ...input: [...AdminInput<Name>, ...never[]]
) => Promise<AdminResponse<Name> | (AdminResponse<Name> extends undefined ? void : StreamableFile | string)>;

/**
 * The handler of one route of the contract: path, method, status, documentation. The compiler checks the handler's
 * parameters and response against the contract.
 */
export function AdminRoute<Name extends AdminRouteName>(name: Name) {
  const route = ADMIN_ROUTES[name];
  const decorate = applyDecorators(
    ...routeDecorators(name, route),
    ApiTags(route.path.split('/')[1] ?? ''),
    // The time to send a file depends on its reader, and needs the database only at the start.
    ...(route.method === 'GET' && route.file === undefined ? [UseInterceptors(AdminReads)] : []),
  );
  return <T extends Handler<Name>>(target: object, key: string, descriptor: TypedPropertyDescriptor<T>): void => {
    decorate(target, key, descriptor);
  };
}

/** Path, method, status and documentation of a route, and its name in the action log. */
export function routeDecorators(name: string, route: Route): MethodDecorator[] {
  const { path, method, status, summary, description, file, fails, isSecret } = route;
  return [
    RequestMapping({ path: path.replace(/\{(\w+)\}/g, ':$1'), method: RequestMethod[method] }),
    HttpCode(status),
    ActionOf({ name, route }),
    ApiOperation({ operationId: name, summary, description }),
    ...bodyOf(route),
    ...responseOf(route),
    // A new key is returned once, by the call that issues it.
    ...(isSecret === true ? [] : [UseInterceptors(MaskedAnswer)]),
    FailsWith(file === undefined ? (fails ?? {}) : { rangeNotSatisfiable: OUT_OF_RANGE, ...fails }),
  ];
}

function bodyOf({ body, isBodyOptional, examples, upload }: Route): MethodDecorator[] {
  if (body !== undefined) {
    return [TakesJson(body, { optional: isBodyOptional === true, ...(examples === undefined ? {} : { examples }) })];
  }
  if (upload?.schema !== undefined) return [TakesJson(upload.schema)];
  if (upload === undefined) return [];
  return [
    ApiConsumes(upload.contentType),
    ApiBody({ schema: { type: 'string', format: 'binary', maxLength: upload.maxBytes } }),
  ];
}

function responseOf({ status, response, variants = [], returns, file, isSecret }: Route): MethodDecorator[] {
  if (file !== undefined) return [SendsFile(file)];
  return [
    ...(isSecret === true ? [Header('Cache-Control', 'no-store')] : []),
    ...(variants.length === 0 ? [] : [ApiExtraModels(...variants)]),
    ApiResponse({
      status,
      description: returns,
      ...(response === undefined ? {} : { type: response }),
      ...(isSecret === true ? { headers: NO_STORE_HEADER } : {}),
    }),
  ];
}
