import { DataSource } from 'typeorm';
import { Controller, Inject, Param, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ApiKeyService } from '../auth/api-key.service.js';
import { ConsoleSessions } from '../auth/console-sessions.js';
import { AdminTokens } from '../auth/caller.js';
import { GuessLimit } from '../auth/limits.js';
import type { AdminCaller, KeyPrincipal, Principal } from '../core/http/principal.js';
import { Route } from '../auth/route.js';
import { ENV, type Env } from '../core/config/env.js';
import { SessionView, SignInRequest } from '../contracts/admin/sessions.routes.js';
import { includesRole } from '../contracts/common/roles.values.js';
import { SERVICE_API } from '../contracts/admin/service.api.js';
import { DEMO_HAULER_ID } from '../contracts/common/demo.js';
import { AppError } from '../core/errors/app-error.js';
import { JsonBody } from '../core/http/json-body.js';
import { findConnection } from '../partner-client/connections.service.js';
import { PersonSignIn, SessionList } from '../auth/people/person-sign-in.js';
import { SignInLinks } from '../auth/sign-in-links.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import { IdParam, ListQuery } from '../contracts/admin/list.dto.js';

/** Sign-in to the console. The page gets a cookie that its scripts cannot read. */
@Controller()
export class ConsoleSessionController {
  constructor(
    @Inject(ENV) private readonly env: Pick<Env, 'SANDBOX' | 'SIDES'>,
    private readonly sessions: ConsoleSessions,
    private readonly tokens: AdminTokens,
    private readonly keys: ApiKeyService,
    private readonly guesses: GuessLimit,
    private readonly dataSource: DataSource,
  ) {}

  @Route(SERVICE_API, 'signIn')
  async signIn(
    @JsonBody() secret: SignInRequest,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ) {
    if (request.headers['x-console'] !== '1') throw new AppError('unauthorized', 'send X-Console: 1 to sign in');
    const caller = await this.check(secret, request);
    await this.sessions.signIn(
      'role' in caller ? { token: secret.token ?? '' } : { keyId: caller.keyId },
      request,
      response,
    );
    return this.viewOf(caller);
  }

  @Route(SERVICE_API, 'getSession')
  async current(@Req() request: Request) {
    const session = await this.sessions.of(request);
    if (session === undefined) throw new AppError('unauthorized', 'sign in first');
    return this.viewOf(session.caller ?? session.key.principal);
  }

  @Route(SERVICE_API, 'signOut')
  async signOut(@Req() request: Request, @Res({ passthrough: true }) response: Response) {
    if (request.headers['x-console'] !== '1') throw new AppError('unauthorized', 'send X-Console: 1 to sign out');
    await this.sessions.signOut(request, response);
  }

  /** The rights of a token, or the caller that a key identifies. Counts a wrong secret. */
  private async check({ token = '', apiKey }: SignInRequest, request: Request): Promise<AdminCaller | KeyPrincipal> {
    try {
      if (apiKey !== undefined) {
        return await this.keys.authenticatePartner({ rawHeaders: ['API-KEY', apiKey], socket: request.socket });
      }
      const caller = this.tokens.find(token);
      if (caller !== undefined) return caller;
      throw new AppError('unauthorized', 'this is no token of the admin API');
    } catch (error) {
      if (error instanceof AppError && error.kind === 'unauthorized') {
        await this.guesses.count('signIn', request, apiKey ?? token);
      }
      throw error;
    }
  }

  private async viewOf(caller: AdminCaller | Principal): Promise<SessionView> {
    const { SIDES, SANDBOX: sandbox } = this.env;
    const service = { sides: [...SIDES], sandbox, demoHaulerId: DEMO_HAULER_ID };
    if ('role' in caller) {
      const { role, name, haulers, person } = caller;
      return {
        kind: includesRole(role, 'operator') ? 'admin' : 'reader',
        ...service,
        role,
        name,
        ...(person === undefined ? {} : { isPerson: true }),
        ...(haulers === undefined ? {} : { haulers: [...haulers] }),
      };
    }
    const { keyPrefix, haulerId, connectionId, customerId } = caller;
    const view = { kind: 'partner', ...service, keyPrefix, haulerId, connectionId, customerId } as const;
    if (haulerId === null || connectionId === null) return view;
    const connection = await findConnection(this.dataSource, haulerId, connectionId);
    return connection === undefined ? view : { ...view, connectionInterface: connection.interface };
  }
}

/** People who sign in at the identity provider, and the sessions of the console. */
@Controller()
export class PeopleController {
  constructor(
    private readonly signIns: PersonSignIn,
    private readonly sessions: SessionList,
    private readonly links: SignInLinks,
  ) {}

  @Route(SERVICE_API, 'getSignInOptions')
  options() {
    return { people: this.signIns.isOn };
  }

  @Route(SERVICE_API, 'signInByLink')
  openLink(@Query('code') code: unknown, @Req() request: Request, @Res() response: Response) {
    return this.links.open(String(code), request, response);
  }

  @Route(SERVICE_API, 'beginSignIn')
  begin(@Req() request: Request, @Res() response: Response) {
    return this.signIns.begin(request, response);
  }

  @Route(SERVICE_API, 'finishSignIn')
  finish(@Req() request: Request, @Res() response: Response) {
    return this.signIns.finish(request, response);
  }

  @Route(SERVICE_API, 'signOutAtProvider')
  signOut(@Req() request: Request, @Res() response: Response) {
    return this.signIns.signOut(request, response);
  }

  @Route(ADMIN_API, 'listSessions')
  list(@Query() query: ListQuery, @Req() request: Request) {
    return this.sessions.list(query, request);
  }

  @Route(ADMIN_API, 'endSession')
  end(@Param() { id }: IdParam) {
    return this.sessions.end(id);
  }
}
