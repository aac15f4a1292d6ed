import { Injectable, type StreamableFile } from '@nestjs/common';
import type { Request } from 'express';
import { whoOf } from '../../auth/action-log.interceptor.js';
import { ActionLog } from '../../auth/action-log.repository.js';
import { changesOf } from '../../auth/action.rules.js';
import type { Action, ActionQuery } from '../../contracts/admin/action.dto.js';
import type { List } from '../../contracts/admin/list.dto.js';
import { acceptsStream, listAnswer } from '../../core/http/list-answer.js';
import { servedBy } from '../../core/http/call.js';
import { NamedActions } from './actions.service.js';

/** The action log as a page, or as a whole, which is an action too. */
@Injectable()
export class ActionExports {
  constructor(
    private readonly actions: NamedActions,
    private readonly log: ActionLog,
  ) {}

  answer(query: ActionQuery, request: Request): Promise<List<Action> | StreamableFile> {
    let isRecorded = !acceptsStream(request);
    return listAnswer(request, query, async (part) => {
      const page = await this.actions.list(part);
      // After the first page, so that a refused query is none, and before anything of it is sent.
      if (!isRecorded) await this.record(request);
      isRecorded = true;
      return page;
    });
  }

  private record(request: Request): Promise<void> {
    const { route } = servedBy(request.call);
    const { params, query } = request;
    const changes = changesOf({ route, params, query, body: undefined, response: undefined });
    return this.log.require({
      ...whoOf(request),
      action: 'actions.exported',
      resource: route.resource,
      ...(changes === undefined ? {} : { changes }),
    });
  }
}
