import { Injectable, type StreamableFile } from '@nestjs/common';
import { ActionLog, type StoredAction } from '../../auth/action-log.repository.js';
import type { Action, ActionQuery, Actors } from '../../contracts/admin/actions.routes.js';
import type { List } from '../../contracts/admin/list.dto.js';
import { isUuid } from '../../contracts/common/text.js';
import { ActionNames, type NamedThing } from './action-names.repository.js';
import { actorName, partsOf, prefixOf, toAction } from './action-sentence.rules.js';
import type { Request } from 'express';
import { whoOf } from '../../auth/action-log.interceptor.js';
import { changesOf } from '../../auth/action.rules.js';
import { acceptsStream, listAnswer } from '../../core/http/list-answer.js';
import { servedBy } from '../../core/http/call.js';

/** The action log with the names of what each action is about. */
@Injectable()
export class NamedActions {
  constructor(
    private readonly actions: ActionLog,
    private readonly names: ActionNames,
  ) {}

  /** Newest first. */
  async list(query: ActionQuery): Promise<List<Action>> {
    const { data, pagination } = await this.actions.list(query);
    const things = await this.thingsOf(data);
    return { data: data.map((action) => toAction(action, things)), pagination };
  }

  /** By name. */
  async actors(): Promise<Actors> {
    const newest = await this.actions.newestOfEach();
    const things = await this.thingsOf(newest);
    const data = newest.map((each) => ({ actor: each.actor, name: actorName(each, things), lastAt: each.at }));
    return { data: data.toSorted((one, other) => one.name.localeCompare(other.name)) };
  }

  private async thingsOf(actions: readonly StoredAction[]): Promise<ReadonlyMap<string, NamedThing>> {
    const ids = new Set(actions.map(({ resource }) => partsOf(resource).id).filter(isUuid));
    const prefixes = new Set(actions.flatMap(({ actor }) => prefixOf(actor) ?? []));
    const found = await this.names.find([...ids], [...prefixes]);
    return new Map(found.map((thing) => [`${thing.kind}:${thing.id}`, thing]));
  }
}

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
