import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import type { ApiRoute } from '../contracts/common/api-contract.js';
import { ownField, parseJson } from '../contracts/common/json.js';
import { isUuid } from '../contracts/common/text.js';
import { Database } from '../core/database/database.js';
import type { HaulerLimit } from '../core/database/hauler-limit.js';
import { apiError } from '../core/errors/app-error.js';
import { hasBody } from '../core/http/http-server.js';
import { readJsonText } from '../core/http/json-body.js';
import type { AdminCaller } from '../core/http/principal.js';
import { ownerOf } from './haulers.repository.js';
import { type AdminRole, includesRole } from '../contracts/common/roles.values.js';
import { soleHeader } from '../core/http/headers.js';
import { AdminTokens } from './caller.js';
import { ConsoleSessions } from './console-sessions.js';
import { GuessLimit } from './limits.js';

/**
 * What a caller that is limited to haulers may name: the id in the path, and hauler and connection in query and body. What
 * belongs to another hauler does not exist. Lists are limited where they are read (`listPage`).
 */
@Injectable()
export class HaulerAccess {
  constructor(private readonly database: Database) {}

  /** Throws `forbidden` for a route that concerns all haulers, or for another hauler, `notFound` for what is of another one. */
  async check(request: Request, route: ApiRoute, { haulers = [], name }: AdminCaller): Promise<HaulerLimit> {
    if (route.isPerHauler !== true) {
      throw apiError(ADMIN_API, 'forbidden', `this concerns all haulers; ${name} is limited to some of them`);
    }
    const { id } = request.params;
    if (typeof id === 'string') await this.requireOwn(haulers, route.resource, id);
    const body = route.body === undefined || !hasBody(request) ? undefined : await bodyOf(request);
    for (const named of [request.query, body]) await this.requireNamed(haulers, named, name);
    return { haulers, isOwner: typeof id === 'string' };
  }

  private async requireNamed(haulers: readonly string[], named: unknown, name: string): Promise<void> {
    const [haulerId, connectionId] = [ownField(named, 'haulerId'), ownField(named, 'connectionId')];
    // Other values are refused by the route.
    if (typeof haulerId === 'string' && isUuid(haulerId) && !haulers.includes(haulerId.toLowerCase())) {
      throw apiError(ADMIN_API, 'forbidden', `${name} may see other haulers only: ${haulers.join(', ')}`);
    }
    if (typeof connectionId !== 'string' || !isUuid(connectionId)) return;
    const owner = await ownerOf(this.database, 'connection', connectionId);
    if (owner === undefined || !haulers.includes(owner)) {
      throw apiError(ADMIN_API, 'forbidden', `the haulers of ${name} have no connection ${connectionId}`);
    }
  }

  private async requireOwn(haulers: readonly string[], resource: string, id: string): Promise<void> {
    // A malformed id is refused by the route.
    if (!isUuid(id)) return;
    const owner = await ownerOf(this.database, resource, id);
    if (owner === undefined || !haulers.includes(owner)) {
      throw apiError(ADMIN_API, 'notFound', `there is no ${resource.replace('-', ' ')} ${id}`);
    }
  }
}

/** The handler reads the same text again, and refuses one that is no JSON. */
async function bodyOf(request: Request): Promise<unknown> {
  const text = await readJsonText(request);
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

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
