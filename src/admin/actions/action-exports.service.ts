import { Injectable, type StreamableFile } from '@nestjs/common';
import { whoOf } from '../../auth/action-log.interceptor.js';
import { ActionLog } from '../../auth/action-log.repository.js';
import { changesOf } from '../../auth/action.rules.js';
import type { AuthenticatedRequest } from '../../auth/principal.js';
import type { Action, ActionQuery } from '../../contracts/admin/action.dto.js';
import type { List } from '../../contracts/admin/list.dto.js';
import { acceptsStream, listAnswer } from '../../http/list-answer.js';
import { servedBy, type ServedRequest } from '../../http/recorded-request.js';
import { NamedActions } from './actions.service.js';

export type ExportCall = AuthenticatedRequest & ServedRequest;

/** The action log as a page, or as a whole, which is an action too. */
@Injectable()
export class ActionExports {
  constructor(
    private readonly actions: NamedActions,
    private readonly log: ActionLog,
  ) {}

  answer(query: ActionQuery, call: ExportCall): Promise<List<Action> | StreamableFile> {
    let isRecorded = !acceptsStream(call);
    return listAnswer(call, query, async (part) => {
      const page = await this.actions.list(part);
      // After the first page, so that a refused query is none, and before anything of it is sent.
      if (!isRecorded) await this.record(call);
      isRecorded = true;
      return page;
    });
  }

  private record(call: ExportCall): Promise<void> {
    const { route } = servedBy(call);
    const { params, query } = call;
    const changes = changesOf({ route, params, query, body: undefined, response: undefined });
    return this.log.require({
      ...whoOf(call),
      action: 'actions.exported',
      resource: route.resource,
      ...(changes === undefined ? {} : { changes }),
    });
  }
}
