import { Controller, Query } from '@nestjs/common';
import { Route } from '../../auth/route.js';
import { ActionQuery } from '../../contracts/admin/action.dto.js';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import { NamedActions } from './actions.service.js';

/** The changes by admins and partners, of both sides. */
@Controller()
export class ActionsController {
  constructor(private readonly actions: NamedActions) {}

  @Route(ADMIN_API, 'listActions')
  list(@Query() query: ActionQuery) {
    return this.actions.list(query);
  }
}
