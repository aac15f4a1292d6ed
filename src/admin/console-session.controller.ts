import { Controller, Delete, Get, Header, HttpCode, Inject, Post, Req, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { CookieOptions, Request, Response } from 'express';
import { ApiKeyService } from '../auth/api-key.service.js';
import {
  type ConsoleSession,
  ConsoleSessions,
  SESSION_COOKIE,
  SESSION_MS,
  SignInTries,
} from '../auth/console-sessions.js';
import { ENV, type Env } from '../config/env.js';
import { SessionView, SignInRequest } from '../contracts/admin/access.dto.js';
import { AppError } from '../errors/app-error.js';
import { JsonBody } from '../http/json-body.js';

const COOKIE: CookieOptions = { httpOnly: true, sameSite: 'strict', path: '/' };

/** Sign-in to the console. The page gets a cookie that its scripts cannot read. */
@Controller('/console/api/session')
@ApiExcludeController()
export class ConsoleSessionController {
  constructor(
    @Inject(ENV) private readonly env: Pick<Env, 'SIDES'>,
    private readonly sessions: ConsoleSessions,
    private readonly keys: ApiKeyService,
  ) {}

  @Post()
  @HttpCode(200)
  @UseGuards(SignInTries)
  @Header('Cache-Control', 'no-store')
  async signIn(
    @JsonBody() { token, apiKey }: SignInRequest,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SessionView> {
    if (request.headers['x-console'] !== '1') throw new AppError('unauthorized', 'send X-Console: 1 to sign in');
    const kind = apiKey === undefined ? this.sessions.kindOf(token ?? '') : 'partner';
    if (kind === undefined)
      throw new AppError('unauthorized', 'this is neither the admin token nor the read-only token');
    const session: ConsoleSession = { kind, expiresAt: Date.now() + SESSION_MS, apiKey };
    const view = await this.viewOf(session, request);
    const { secure } = request;
    response.cookie(SESSION_COOKIE, this.sessions.seal(session), { ...COOKIE, secure, maxAge: SESSION_MS });
    return view;
  }

  @Get()
  @Header('Cache-Control', 'no-store')
  async current(@Req() request: Request): Promise<SessionView> {
    const session = this.sessions.of(request);
    if (session === undefined) throw new AppError('unauthorized', 'sign in first');
    return this.viewOf(session, request);
  }

  @Delete()
  @HttpCode(204)
  signOut(@Res({ passthrough: true }) response: Response): void {
    response.clearCookie(SESSION_COOKIE, COOKIE);
  }

  private async viewOf({ kind, apiKey }: ConsoleSession, { socket }: Request): Promise<SessionView> {
    const sides = [...this.env.SIDES];
    if (apiKey === undefined) return { kind, sides };
    const { keyPrefix, haulerId, customerId } = await this.keys.authenticatePartner({
      rawHeaders: ['API-KEY', apiKey],
      socket,
    });
    return { kind, sides, keyPrefix, haulerId, customerId };
  }
}
