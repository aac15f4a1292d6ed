import { Controller, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { Route } from '../../auth/route.js';
import { ActionQuery } from '../../contracts/admin/actions.routes.js';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import { ActionExports, NamedActions } from './actions.service.js';

/** The changes by admins and partners, of both sides. */
@Controller()
export class ActionsController {
  constructor(
    private readonly exports: ActionExports,
    private readonly actions: NamedActions,
  ) {}

  @Route(ADMIN_API, 'listActions')
  list(@Query() query: ActionQuery, @Req() request: Request) {
    return this.exports.answer(query, request);
  }

  @Route(ADMIN_API, 'listActors')
  listActors() {
    return this.actions.actors();
  }
}
