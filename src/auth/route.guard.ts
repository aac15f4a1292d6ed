import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import { AdminAccess } from './admin-access.js';
import type { ServedRequest } from '../http/recorded-request.js';
import { ApiKeyService } from './api-key.service.js';
import { ConsoleSessions } from './console-sessions.js';
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
    private readonly admin: AdminAccess,
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
        return this.admin.check(request, served.route, served.route.role);
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
}
