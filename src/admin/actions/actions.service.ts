import { Injectable } from '@nestjs/common';
import { ActionLog, type StoredAction } from '../../auth/action-log.repository.js';
import type { Action, ActionQuery, Actors } from '../../contracts/admin/action.dto.js';
import type { List } from '../../contracts/admin/list.dto.js';
import { isUuid } from '../../contracts/common/text.js';
import { ActionNames, type NamedThing } from './action-names.repository.js';
import { actorName, partsOf, prefixOf, toAction } from './action-sentence.rules.js';

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
