import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { AdminAccess } from './hauler-access.js';
import { ApiKeyService } from './api-key.service.js';
import { ConsoleSessions } from './console-sessions.js';
import type { Principal } from '../core/http/principal.js';
import { RateLimit } from './limits.js';
import { ServedRoute } from './route.js';

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
    const request = http.getRequest<Request>();
    const served = this.reflector.get(ServedRoute, context.getHandler());
    const { call } = request;
    call.served = served;
    switch (served.route.role) {
      case 'key': {
        if (call.replay !== undefined) {
          call.principal = call.replay.caller;
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
    request: Request,
    response: Response,
  ): boolean | Promise<boolean> {
    if (caller instanceof Promise) {
      request.call.identifying = caller;
      return caller.then((known) => this.accept(known, request, response));
    }
    request.call.principal = caller;
    return this.rateLimit.count(request, response)?.then(() => true) ?? true;
  }

  /** Any key that this service issued, in either header or in a console session. */
  private async partnerOf(request: Request): Promise<Principal> {
    const { headers } = request;
    const isSent = headers['api-key'] !== undefined || headers['platform-api-key'] !== undefined;
    const key = isSent ? undefined : (await this.sessions.of(request))?.key;
    return key === undefined ? this.keys.authenticatePartner(request) : this.keys.authenticateSession(key);
  }
}
