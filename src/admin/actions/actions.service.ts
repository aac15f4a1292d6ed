import { Injectable } from '@nestjs/common';
import { ActionLog } from '../../auth/action-log.repository.js';
import type { Action, ActionQuery } from '../../contracts/admin/action.dto.js';
import type { List } from '../../contracts/admin/list.dto.js';
import { isUuid } from '../../contracts/common/text.js';
import { ActionNames } from './action-names.repository.js';
import { partsOf, prefixOf, toAction } from './action-sentence.rules.js';

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
    const ids = new Set(data.map(({ resource }) => partsOf(resource).id).filter(isUuid));
    const prefixes = new Set(data.flatMap(({ actor }) => prefixOf(actor) ?? []));
    const found = await this.names.find([...ids], [...prefixes]);
    const things = new Map(found.map((thing) => [`${thing.kind}:${thing.id}`, thing]));
    return { data: data.map((action) => toAction(action, things)), pagination };
  }
}
