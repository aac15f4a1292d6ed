import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import { apiError } from '../errors/app-error.js';
import { soleHeader } from '../http/headers.js';
import { ConsoleSessions } from './console-sessions.js';

/**
 * Allows `Authorization: Bearer` with ADMIN_TOKEN or ADMIN_READ_TOKEN, or a console session. Guards the admin API and
 * /metrics. The check of a connection counts as a read.
 */
@Injectable()
export class AdminGuard implements CanActivate {
  constructor(private readonly sessions: ConsoleSessions) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const kind = this.kindOf(request);
    if (kind === 'admin') return true;
    if (kind === 'reader' && isRead(request)) return true;
    const message =
      kind === 'reader'
        ? 'this token may only read; changes need the admin token'
        : 'send the admin token as Authorization: Bearer <token>';
    throw apiError(ADMIN_API, 'unauthorized', message, { headers: { 'WWW-Authenticate': 'Bearer' } });
  }

  private kindOf(request: Request) {
    if (request.headers.authorization === undefined) return this.sessions.of(request)?.kind;
    const header = soleHeader(request, 'authorization') ?? '';
    return this.sessions.kindOf(/^bearer +(.+)$/i.exec(header)?.[1] ?? '');
  }
}

const isRead = ({ method, path }: Request): boolean =>
  method === 'GET' || method === 'HEAD' || (method === 'POST' && /^\/admin\/v1\/connections\/[^/]+\/check$/.test(path));
