import { Controller, Param, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { PersonSignIn, SessionList } from '../auth/people/person-sign-in.js';
import { Route } from '../auth/route.js';
import { SignInLinks } from '../auth/sign-in-links.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import { IdParam, ListQuery } from '../contracts/admin/list.dto.js';
import { SERVICE_API } from '../contracts/admin/service.api.js';

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
