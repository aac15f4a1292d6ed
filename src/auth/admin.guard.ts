import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { createHash, timingSafeEqual } from 'node:crypto';
import { ENV, type ResolvedEnv } from '../config/env.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import { apiError } from '../errors/app-error.js';
import { soleHeader } from '../http/headers.js';

/** Lets in who sends `Authorization: Bearer <ADMIN_TOKEN>`: the admin API and /metrics. */
@Injectable()
export class AdminGuard implements CanActivate {
  private readonly expected: Buffer;

  constructor(@Inject(ENV) env: Pick<ResolvedEnv, 'ADMIN_TOKEN'>) {
    this.expected = digest(env.ADMIN_TOKEN);
  }

  canActivate(context: ExecutionContext): boolean {
    const header = soleHeader(context.switchToHttp().getRequest<Request>(), 'authorization') ?? '';
    const token = /^bearer +(.+)$/i.exec(header)?.[1] ?? '';
    // Digests have one length, so the time of the comparison depends on neither length nor content.
    if (timingSafeEqual(digest(token), this.expected)) return true;
    throw apiError(ADMIN_API, 'unauthorized', 'send the admin token as Authorization: Bearer <token>', {
      headers: { 'WWW-Authenticate': 'Bearer' },
    });
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
