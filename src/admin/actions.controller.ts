import { Query } from '@nestjs/common';
import { ActionLog } from '../auth/action-log.js';
import { AdminController, AdminRoute } from '../auth/admin-api.js';
import { Action, ActionQuery } from '../contracts/admin/action.dto.js';
import { List } from '../contracts/admin/list.dto.js';

@AdminController()
export class ActionsController {
  constructor(private readonly actions: ActionLog) {}

  @AdminRoute('listActions')
  list(@Query() query: ActionQuery): Promise<List<Action>> {
    return this.actions.list(query);
  }
}
