import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import type { ApiRoute } from '../contracts/common/api-contract.js';
import { type AdminRole, includesRole } from '../contracts/common/roles.values.js';
import { apiError } from '../core/errors/app-error.js';
import { soleHeader } from '../core/http/headers.js';
import type { AdminCaller } from '../core/http/principal.js';
import { AdminTokens } from './admin-caller.js';
import { ConsoleSessions } from './console-sessions.js';
import { GuessLimit } from './guess-limit.js';
import { HaulerAccess } from './hauler-access.js';

/** Who calls the admin API, and whether the route is open to the role and the haulers of the caller. */
@Injectable()
export class AdminAccess {
  constructor(
    private readonly sessions: ConsoleSessions,
    private readonly tokens: AdminTokens,
    private readonly guesses: GuessLimit,
    private readonly haulers: HaulerAccess,
  ) {}

  async check(request: Request, route: ApiRoute, needed: AdminRole): Promise<true> {
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
    request.call.admin = caller;
    if (caller.haulers !== undefined) request.call.limit = await this.haulers.check(request, route, caller);
    return true;
  }

  /** `Authorization: Bearer` with a token of the admin API, or a console session of a token or a person. */
  private async callerOf(request: Request): Promise<AdminCaller | undefined> {
    if (request.headers.authorization === undefined) return (await this.sessions.of(request))?.caller;
    const header = soleHeader(request, 'authorization') ?? '';
    const token = /^bearer +(.+)$/i.exec(header)?.[1] ?? '';
    const caller = this.tokens.find(token);
    if (caller === undefined && token !== '') await this.guesses.count('token', request, token);
    return caller;
  }
}

const unauthorized = (message: string) =>
  apiError(ADMIN_API, 'unauthorized', message, {
    headers: { 'WWW-Authenticate': 'Bearer' },
  });
