import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import type { ApiRoute } from '../contracts/common/api-contract.js';
import { type AdminRole, includesRole } from '../contracts/common/roles.js';
import { type AdminCaller, AdminTokens } from './admin-caller.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import { apiError } from '../errors/app-error.js';
import { soleHeader } from '../http/headers.js';
import type { ServedRequest } from '../http/recorded-request.js';
import { ApiKeyService } from './api-key.service.js';
import { ConsoleSessions } from './console-sessions.js';
import { GuessLimit } from './guess-limit.js';
import { refusalOf } from './hauler-hold.js';
import type { AuthenticatedRequest, Principal } from './principal.js';
import { RateLimit } from './rate-limit.js';
import { ServedRoute } from './route.js';

type Call = AuthenticatedRequest & ServedRequest;

/** The first guard of every handler: allows the callers that the role of the route names. */
@Injectable()
export class RouteGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly keys: ApiKeyService,
    private readonly sessions: ConsoleSessions,
    private readonly tokens: AdminTokens,
    private readonly guesses: GuessLimit,
    private readonly rateLimit: RateLimit,
  ) {}

  /** Returns without a promise if the key of an interface is cached, because promises cost time on the hot path. */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Call>();
    const served = this.reflector.get(ServedRoute, context.getHandler());
    request.served = served;
    switch (served.route.role) {
      case 'key': {
        if (request.replay !== undefined) {
          request.principal = request.replay.caller;
          return true;
        }
        const caller = this.keys.authenticate(request, served.api);
        return this.accept(caller, request, http.getResponse<Response>());
      }
      case 'partner':
        return this.accept(this.partnerOf(request), request, http.getResponse<Response>());
      case 'anyone':
        return true;
      default:
        return this.checkRole(request, served.route, served.route.role);
    }
  }

  private accept(
    caller: Principal | Promise<Principal>,
    request: Call,
    response: Response,
  ): boolean | Promise<boolean> {
    if (caller instanceof Promise) return caller.then((known) => this.accept(known, request, response));
    request.principal = caller;
    const refusal = refusalOf(caller.hold, request.method);
    if (refusal !== undefined) throw refusal;
    return this.rateLimit.count(request, response)?.then(() => true) ?? true;
  }

  /** Any key that this service issued, in either header or in a console session. */
  private async partnerOf(request: Call): Promise<Principal> {
    const { headers } = request;
    const isSent = headers['api-key'] !== undefined || headers['platform-api-key'] !== undefined;
    const key = isSent ? undefined : (await this.sessions.of(request))?.key;
    return key === undefined ? this.keys.authenticatePartner(request) : this.keys.authenticateSession(key);
  }

  /** `Authorization: Bearer` with a token of the admin API, or a console session of a token or a person. */
  private async checkRole(request: Call, route: ApiRoute, needed: AdminRole): Promise<true> {
    const caller = await this.callerOf(request);
    if (caller === undefined) throw unauthorized('send the admin token as Authorization: Bearer <token>');
    if (!includesRole(caller.role, needed) && !(caller.isReadToken && route.isOpenToReadToken)) {
      if (caller.isReadToken) throw unauthorized('this token may only read; changes need the admin token');
      throw apiError(
        ADMIN_API,
        'forbidden',
        `this needs the role ${needed}; ${caller.name} has the role ${caller.role}`,
      );
    }
    if (caller.haulers !== undefined && route.isPerHauler !== true) {
      throw apiError(ADMIN_API, 'forbidden', `this concerns all haulers; ${caller.name} is limited to some of them`);
    }
    request.admin = caller;
    return true;
  }

  private async callerOf(request: Call): Promise<AdminCaller | undefined> {
    if (request.headers.authorization === undefined) return (await this.sessions.of(request))?.caller;
    const header = soleHeader(request, 'authorization') ?? '';
    const token = /^bearer +(.+)$/i.exec(header)?.[1] ?? '';
    const caller = this.tokens.find(token);
    if (caller === undefined && token !== '') await this.guesses.count('token', request, token);
    return caller;
  }
}

const unauthorized = (message: string) =>
  apiError(ADMIN_API, 'unauthorized', message, { headers: { 'WWW-Authenticate': 'Bearer' } });
