import { Json, Nested, NestedList, OneOf, Text, Time, Uuid } from '../common/fields/decorators.js';
import { between, example, inQuery, optional } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';
import { ACTION_KINDS, type ActionKind } from './action.values.js';
import { AttentionHauler } from './attention.routes.js';
import { ListQuery } from './list.dto.js';
import { CONNECTION } from './fields.js';
import { type AdminRoutes, FOR_VIEWERS_OF_ALL, list, route } from './route-helpers.js';

export class ActionQuery extends ListQuery {
  @Time('Actions at this time or later', inQuery, optional) from?: Instant;
  @Time('Actions before this time', inQuery, optional) to?: Instant;
  @Text('Actions on this resource only', between(1, 600), optional) resource?: string;
  @Text('Actions of this `actor` only', between(1, 600), optional) actor?: string;
  @OneOf('Actions on this kind of thing only', ACTION_KINDS, optional) kind?: ActionKind;
}

/** Who has done something. */
class Actor {
  @Text('As `actor` of an action', example('admin')) actor!: string;
  @Text('The name', example('An admin with the token')) name!: string;
  @Time('When it did something last') lastAt!: string;
}

export class Actors {
  @NestedList('At most 200', Actor) data!: Actor[];
}

/** What an action changed. */
class ActionSubject {
  @Text('Kind of thing', example('connection')) kind!: string;
  @Text('Its id; absent for an action on many', optional, example(CONNECTION)) id?: string;
  @Text('Its name; the id where nothing with it is stored any more', example('site connection of Lone Star Hauling'))
  name!: string;
  @Nested('Its hauler', AttentionHauler, optional) hauler?: AttentionHauler;
}

/** A person who signed in at the identity provider. */
export class ActionPerson {
  @Text('Its id there (`sub`)', example('f3b1c2d4')) subject!: string;
  @Text('Its name', optional, example('Dana Dispatcher')) name?: string;
  @Text('Its e-mail address', optional, example('dana@hauling.example')) email?: string;
}

/** One change by a call of the admin API, the console or the partner API. */
export class Action {
  @Uuid('Id of the action') id!: string;
  @Time('When it was done') at!: string;
  @Text(
    '`admin`: a call with the admin token. `console`: a console session with it. `token:` with the name of a named token. `person:` with its id at the identity provider. `partner:` with the key prefix. `share`: a link to a recording.',
    example('admin'),
  )
  actor!: string;
  @Nested('The person, as the identity provider names it', ActionPerson, optional) person?: ActionPerson;
  @Text(
    'Operation id of the call; `share.viewed`: the recording of a link was shown; `recording.viewed`, `recording.downloaded`, `exchange.viewed`: it was shown to the caller; `actions.exported`: the action log was exported',
    example('updateConnection'),
  )
  action!: string;
  @Text('Changed or viewed resource', example(`connection:${CONNECTION}`)) resource!: string;
  @Json(
    'The validated input of the call, for an upload also what was stored. Secrets are `[redacted]`; long values are cut.',
    { type: 'object', additionalProperties: true },
    optional,
    example({ enabled: false }),
  )
  changes?: Readonly<Record<string, unknown>>;
  @Text('Why the call failed; it may have changed something all the same. Absent for a call that succeeded', optional)
  error?: string;
  @Text(
    'Who did what, on which thing',
    example('An admin in the console paused the site connection of Lone Star Hauling.'),
  )
  sentence!: string;
  @Nested('The changed thing with its name', ActionSubject) subject!: ActionSubject;
}

export const ACTION_ROUTES = {
  listActions: list(FOR_VIEWERS_OF_ALL, '/actions', Action, ActionQuery, {
    summary: 'List the actions of admins and partners',
    description:
      'Every change by the admin API, the console or the partner API, and every view of a recording or an exchange, newest first, for 400 days. Refused calls (4xx) and dry runs are not listed; a call that failed (5xx) is, with its `error`. With `Accept: application/x-ndjson` all of them, which is an action too: `actions.exported`.',
    ndjson: true,
  }),
  listActors: route(FOR_VIEWERS_OF_ALL, 'GET', '/actions/actors', {
    summary: 'List who has done something',
    description: 'Every `actor` of the action log, by its name.',
    response: Actors,
  }),
} as const satisfies AdminRoutes;
